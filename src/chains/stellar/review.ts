import { createHash } from 'node:crypto'
import {
  HashIdPreimage,
  type ScAddress,
  type SorobanAuthorizedInvocation,
  type Transaction,
  TransactionEnvelope,
  TransactionV1Envelope,
} from '@stellar/stellar-sdk/xdr'
import { larger } from '../../lib/bigint.ts'
import type { Signer } from '../../signers/signer.ts'
import type { Answer, Refusal } from '../answer.ts'
import type { SignedDraft } from '../attempt.ts'
import type { ReviewedAuthorization } from '../capabilities.ts'
import type { Reviewed } from '../chain.ts'
import type { UnsignedStellar } from '../request.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { nextSequence, stellarEffects } from './effects/effects.ts'
import { addressName, authorizedEffects } from './effects/invocation.ts'
import { hashTransaction, networkIdOf, readEnvelope } from './model/envelope.ts'
import { underlying } from './model/strkey.ts'
import { feeCap } from './prepare/fees.ts'
import { nativeOutflow } from './prepare/prepare.ts'
import { readHead } from './read/replies.ts'
import { claimsToBeBy, presentSignature, signDetached, signHash, stellarSigner } from './sign.ts'
import type { StellarAccount } from './types.ts'

const TRANSACTION_FIELD = 'unsigned_xdr'

/** `DecoratedSignature signatures<20>` of XDR. */
const MAX_SIGNATURES = 20

/**
 * Reviews a transaction without a node: the ledger decides about the sequence number, and the caller chose
 * it.
 */
export function reviewUnsigned(
  { envelope: xdr }: UnsignedStellar,
  account: StellarAccount,
  passphrase: string,
): Answer<Reviewed> {
  const read = readEnvelope(xdr)
  if (read === undefined)
    return invalid(`${TRANSACTION_FIELD}: a TransactionEnvelope is expected, XDR in base64.`)
  if (read.kind === 'fee_bump') {
    const detail = `${TRANSACTION_FIELD}: a transaction is expected; send it with fee_bump to have its fee paid.`
    return { kind: 'refused', refusal: { code: 'not_supported', detail } }
  }
  const { envelope } = read
  const { tx } = envelope
  const self = account.address
  if (tx.operations.length === 0) return invalid(`${TRANSACTION_FIELD}: at least one operation is expected.`)
  if (!isWanted(tx, self))
    return invalid(
      `${TRANSACTION_FIELD}: the relayer ${self} is expected as the source of the transaction or of an operation.`,
    )
  const refusal = checkFee(tx, account)
  if (refusal) return { kind: 'refused', refusal }
  if (envelope.signatures.length >= MAX_SIGNATURES)
    return invalid(
      `${TRANSACTION_FIELD}: at most ${MAX_SIGNATURES - 1} signatures are expected, so that one more fits; it has ${envelope.signatures.length}.`,
    )
  const request = { type: 'stellar', network: '', transactionXdr: xdr } as const
  const source = underlying(tx.sourceAccount)
  const nonce = source === self ? nextSequence(request, self) : undefined
  return {
    kind: 'ok',
    value: {
      effects: stellarEffects(request, self),
      nextNonce: { address: source, nonce: larger(nonce ?? 0n, tx.seqNum + 1n) },
      cost: nativeOutflow(tx.operations, underlying(tx.sourceAccount), self) + feeOf(tx, self),
      sign: (signer) => sign(envelope, signer, passphrase),
    },
  }
}

function isWanted({ sourceAccount, operations }: Transaction, self: string): boolean {
  const sources = [sourceAccount, ...operations.flatMap((operation) => operation.sourceAccount ?? [])]
  return sources.some((source) => underlying(source) === self)
}

/** Returns the fee when the relayer is the source, which pays it. */
function feeOf({ sourceAccount, fee }: Transaction, self: string): bigint {
  return underlying(sourceAccount) === self ? BigInt(fee) : 0n
}

function checkFee(tx: Transaction, { address, policies }: StellarAccount): Refusal | undefined {
  const fee = feeOf(tx, address)
  const cap = feeCap(policies)
  if (fee <= cap) return undefined
  const detail = `${TRANSACTION_FIELD}: its fee of ${fee} is above the relayer's max_fee of ${cap} stroops.`
  return { code: 'fee_above_cap', detail }
}

/** Signatures of others stay; an earlier one by the same key would be the same bytes, or invalid. */
async function sign(
  { tx, signatures }: TransactionV1Envelope,
  signer: Signer,
  passphrase: string,
): Promise<SignedDraft> {
  const key = stellarSigner(signer)
  const hash = hashTransaction(tx, passphrase)
  const { decorated, bytes } = await signHash(hash, key)
  const others = signatures.filter((one) => !claimsToBeBy(one, key.publicKey))
  const signed = new TransactionV1Envelope({ tx, signatures: [...others, decorated] })
  return {
    raw: TransactionEnvelope.envelopeTypeTx(signed).toXdr(),
    hash: hash.toString('hex'),
    signature: presentSignature(bytes),
  }
}

function invalid(detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

const PREIMAGE_FIELD = 'preimage_xdr'

/**
 * The number of ledgers after the newest one in which an authorization may still be used: about 10 minutes.
 * No one can take it back before, so a pause of the relayer would come too late. @stellar/stellar-sdk takes
 * 100, counted from a node that may be ahead of ours by a few; with a lower number its default would be
 * refused.
 */
const MAX_LEDGERS_AHEAD = 120n

/** The network for which the relayer signs. */
interface AuthorizationContext {
  readonly client: PooledClient
  readonly passphrase: string
}

/**
 * Reviews the preimage of an authorization entry, XDR in base64: it authorizes calls and is nothing else, it
 * is for this network, for the relayer `self` where it names an account, and soon at its end.
 */
export async function reviewAuthorization(
  { client, passphrase }: AuthorizationContext,
  xdr: string,
  self: string,
): Promise<Answer<ReviewedAuthorization>> {
  const preimage = readAuthorizationPreimage(xdr)
  if (preimage === undefined)
    return invalidPreimage('a HashIdPreimage of a Soroban authorization is expected, XDR in base64.')
  const problem = checkOwner(preimage, passphrase, self)
  if (problem !== undefined) return invalidPreimage(problem)
  const head = await readHead(client)
  if (head.kind !== 'ok') return head
  const refused = checkExpiration(preimage, head.value.number)
  if (refused !== undefined) return invalidPreimage(refused)
  const { hash, invocation } = preimage
  return {
    kind: 'ok',
    value: {
      effects: authorizedEffects(invocation),
      sha256: hash.toString('hex'),
      sign: (signer) => signDetached(hash, stellarSigner(signer)),
    },
  }
}

function checkOwner(
  { networkId, address }: AuthorizationPreimage,
  passphrase: string,
  self: string,
): string | undefined {
  if (!networkIdOf(passphrase).equals(networkId))
    return `its network id is expected to be that of "${passphrase}", the network of the relayer; it is for another network.`
  if (address !== undefined && addressName(address) !== self)
    return `its address is expected to be that of the relayer, ${self}; it is ${addressName(address) ?? address.type}.`
  return undefined
}

function checkExpiration({ expirationLedger }: AuthorizationPreimage, newest: bigint): string | undefined {
  const [first, last] = [newest + 1n, newest + MAX_LEDGERS_AHEAD]
  if (expirationLedger >= first && expirationLedger <= last) return undefined
  return `signatureExpirationLedger: a ledger from ${first} to ${last} is expected, and it is ${expirationLedger}; the newest ledger is ${newest}.`
}

function invalidPreimage(detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code: 'invalid_request', detail: `${PREIMAGE_FIELD}: ${detail}` } }
}

/**
 * The bytes over whose hash an account authorizes calls of smart contracts (CAP-46-11), as far as the service
 * must know them.
 */
interface AuthorizationPreimage {
  /** SHA-256 of the passphrase of the network for which the signature is. */
  readonly networkId: Uint8Array
  /** The last ledger that accepts the signature. */
  readonly expirationLedger: bigint
  /**
   * The account that authorizes, if the preimage names it (CAP-71); without it, the signature is for any
   * account that has the key.
   */
  readonly address?: ScAddress
  readonly invocation: SorobanAuthorizedInvocation
  /** SHA-256 of the preimage: what the account signs. */
  readonly hash: Buffer
}

/**
 * Reads a `HashIdPreimage` of an authorization; undefined for other text, and for the preimages of ids, which
 * no one signs. The first four bytes are its type, where the preimage of a transaction has the id of a
 * network. The SDK reads at most 500 levels, and every byte.
 */
export function readAuthorizationPreimage(base64: string): AuthorizationPreimage | undefined {
  const fields = authorizationIn(base64)
  if (fields === undefined) return undefined
  const { networkId, signatureExpirationLedger, invocation } = fields
  return {
    networkId: networkId.toBytes(),
    expirationLedger: BigInt(signatureExpirationLedger),
    ...('address' in fields && { address: fields.address }),
    invocation,
    hash: createHash('sha256').update(Buffer.from(base64, 'base64')).digest(),
  }
}

function authorizationIn(base64: string) {
  const preimage = decode(base64)
  switch (preimage?.type) {
    case 'envelopeTypeSorobanAuthorization':
      return preimage.sorobanAuthorization
    case 'envelopeTypeSorobanAuthorizationWithAddress':
      return preimage.sorobanAuthorizationWithAddress
    default:
      return undefined
  }
}

function decode(base64: string): HashIdPreimage | undefined {
  try {
    return HashIdPreimage.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK throws: not XDR, not of this kind, too deep, or with bytes left over.
  }
}
