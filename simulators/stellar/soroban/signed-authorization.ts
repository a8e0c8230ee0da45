import { createHash } from 'node:crypto'
import { Address, StrKey, xdr } from '@stellar/stellar-sdk'
import type { Network } from '../network.ts'
import type { AccountEntry } from '../state/entries.ts'
import { accountLedgerKey } from '../state/entry-xdr.ts'
import { signersOf, verifyEd25519 } from '../transaction/signatures.ts'
import { type Authorizer, type Call, innermost } from './authorization.ts'
import { Trap } from './contracts.ts'
import { dataEntry, nonceLedgerKey } from './keys.ts'
import type { Storage } from './storage.ts'

/** The context of a check of signatures. */
export interface Verification {
  readonly network: Network
  readonly storage: Storage
  /** The source of the operation, who has signed the transaction. */
  readonly source: string
}

/** The first protocol with signatures that name their address (CAP-71). */
const BOUND_PROTOCOL = 27

interface Tracked {
  readonly entry: xdr.SorobanAuthorizationEntry
  readonly address: string
  /** The part of the tree that belongs to a call that is, or was, under way. */
  readonly reached: Map<Call, xdr.SorobanAuthorizedInvocation>
  readonly used: Set<xdr.SorobanAuthorizedInvocation>
}

/**
 * Agrees to exactly what the entries of the transaction agree to, each part once (soroban-env-host auth.rs). A
 * signature is checked, and its nonce used up, when the first call of its tree is met.
 */
export function createEnforcer(
  entries: readonly xdr.SorobanAuthorizationEntry[],
  verification: Verification,
): Authorizer {
  const tracked = entries.map((entry): Tracked => {
    const address = addressOf(entry, verification.source)
    return { entry, address, reached: new Map(), used: new Set() }
  })
  return {
    require(address, calls, authorized = innermost(calls).function) {
      const call = innermost(calls)
      for (const tracker of tracked) {
        if (tracker.address !== address) continue
        const node = next(tracker, calls).find(
          (candidate) => !tracker.used.has(candidate) && candidate.function.equals(authorized),
        )
        if (!node) continue
        if (node === tracker.entry.rootInvocation) verify(tracker, verification)
        tracker.used.add(node)
        tracker.reached.set(call, node)
        return
      }
      throw new Trap(
        `HostError: Error(Auth, InvalidAction): Unauthorized function call for address ${address}`,
      )
    },
  }
}

/** Returns the possible next calls: below the closest surrounding call in the tree, or its root. */
function next(
  { entry, reached }: Tracked,
  calls: readonly Call[],
): readonly xdr.SorobanAuthorizedInvocation[] {
  const around = calls.slice(0, -1).findLast((outer) => reached.has(outer))
  return around ? (reached.get(around)?.subInvocations ?? []) : [entry.rootInvocation]
}

function verify({ entry, address }: Tracked, { network, storage }: Verification): void {
  const { credentials } = entry
  if (credentials.type === 'sorobanCredentialsSourceAccount') return
  const isBound = credentials.type === 'sorobanCredentialsAddressV2'
  if (isBound && network.protocolVersion < BOUND_PROTOCOL) throw unknownCredentials(network)
  const { nonce, signature, signatureExpirationLedger, address: signer } = signerIn(credentials, network)
  if (signatureExpirationLedger < storage.ledger) {
    throw new Trap('HostError: Error(Auth, InvalidInput): signature has expired')
  }
  const key = nonceLedgerKey(address, nonce)
  if (storage.read(key))
    throw new Trap('HostError: Error(Auth, ExistingValue): nonce already exists for address')
  const signed = {
    networkId: new xdr.Hash(network.id),
    nonce,
    signatureExpirationLedger,
    invocation: entry.rootInvocation,
  }
  const preimage = isBound
    ? xdr.HashIdPreimage.envelopeTypeSorobanAuthorizationWithAddress(
        new xdr.HashIdPreimageSorobanAuthorizationWithAddress({ ...signed, address: signer }),
      )
    : xdr.HashIdPreimage.envelopeTypeSorobanAuthorization(new xdr.HashIdPreimageSorobanAuthorization(signed))
  checkSignatures(
    readAccount(storage, address),
    signature,
    createHash('sha256').update(preimage.toXdr()).digest(),
  )
  storage.write(dataEntry(key, xdr.ScVal.scvVoid(), signatureExpirationLedger), key)
}

function signerIn(credentials: xdr.SorobanCredentials, network: Network): xdr.SorobanAddressCredentials {
  if (credentials.type === 'sorobanCredentialsAddress') return credentials.address
  if (credentials.type === 'sorobanCredentialsAddressV2') return credentials.addressV2
  throw unknownCredentials(network)
}

function unknownCredentials({ protocolVersion }: Network): Trap {
  return new Trap(
    `HostError: Error(Auth, InvalidInput): credentials that protocol ${protocolVersion} does not know`,
  )
}

/** An account's own rules, with its medium threshold (soroban-env-host builtin_contracts/account_contract.rs). */
function checkSignatures(account: AccountEntry, signature: xdr.ScVal, payload: Uint8Array): void {
  const signers = new Map(signersOf(account).map(({ key, weight }) => [key, weight]))
  let weight = 0
  let last = ''
  for (const { publicKey, bytes } of readSignatures(signature)) {
    const key = StrKey.encodeEd25519PublicKey(publicKey)
    const hex = Buffer.from(publicKey).toString('hex')
    if (hex <= last) throw new Trap('HostError: Error(Auth, InvalidInput): public keys are not ordered')
    last = hex
    if (!signers.has(key)) throw new Trap(`HostError: Error(Auth, InvalidInput): ${key} is no signer`)
    if (!verifyEd25519(key, payload, bytes)) {
      throw new Trap('HostError: Error(Crypto, InvalidInput): failed ED25519 verification')
    }
    weight += signers.get(key) ?? 0
  }
  if (last === '' || weight < account.thresholds.medium) {
    throw new Trap('HostError: Error(Auth, InvalidInput): signature weight is lower than threshold')
  }
}

function readSignatures(
  signature: xdr.ScVal,
): { readonly publicKey: Uint8Array; readonly bytes: Uint8Array }[] {
  if (signature.type !== 'scvVec' || !signature.vec) {
    throw new Trap('HostError: Error(Auth, UnexpectedType): a signature is a vector')
  }
  return signature.vec.map((item) => {
    const fields = new Map(
      item.type === 'scvMap'
        ? (item.map ?? []).map(({ key, val }) => [key.type === 'scvSymbol' ? key.sym.toString() : '', val])
        : [],
    )
    return { publicKey: bytesOf(fields.get('public_key')), bytes: bytesOf(fields.get('signature')) }
  })
}

function bytesOf(value: xdr.ScVal | undefined): Uint8Array {
  if (value?.type !== 'scvBytes') throw new Trap('HostError: Error(Auth, UnexpectedType): bytes are missing')
  return value.bytes.toBytes()
}

function readAccount(storage: Storage, address: string): AccountEntry {
  if (!StrKey.isValidEd25519PublicKey(address)) {
    throw new Trap('HostError: Error(Auth, InvalidAction): contracts do not sign here')
  }
  const entry = storage.read(accountLedgerKey(address))
  if (entry?.kind !== 'account')
    throw new Trap(`HostError: Error(Auth, MissingValue): there is no account ${address}`)
  return entry
}

function addressOf({ credentials }: xdr.SorobanAuthorizationEntry, source: string): string {
  switch (credentials.type) {
    case 'sorobanCredentialsSourceAccount':
      return source
    case 'sorobanCredentialsAddress':
      return Address.fromScAddress(credentials.address.address).toString()
    case 'sorobanCredentialsAddressV2':
      return Address.fromScAddress(credentials.addressV2.address).toString()
    default:
      return ''
  }
}
