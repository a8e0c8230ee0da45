import { createHash, createPublicKey, verify } from 'node:crypto'
import {
  DecoratedSignature,
  FeeBumpTransaction,
  FeeBumpTransactionEnvelope,
  FeeBumpTransactionExt,
  FeeBumpTransactionInnerTx,
  Operation,
  type Transaction,
  TransactionEnvelope,
  TransactionV1Envelope,
} from '@stellar/stellar-sdk/xdr'
import type { Signer } from '../../signers/signer.ts'
import type { MessageSignature, Signature, SignedDraft } from '../attempt.ts'
import type { SigningContext } from '../chain.ts'
import type { StellarDraft } from './content.ts'
import { hashFeeBump, hashTransaction, openEnvelope, withFields } from './model/envelope.ts'
import { accountIdOf, toMuxedAccount } from './model/strkey.ts'
import { totalFee } from './prepare/fees.ts'

/**
 * Signs a draft. Replacements, externally signed content, and transactions with a channel's sequence number
 * go into a fee bump, which the relayer pays.
 */
export async function signDraft(
  draft: StellarDraft,
  signingContext: SigningContext,
  passphrase: string,
): Promise<SignedDraft> {
  const channel =
    !draft.externallySigned && signingContext.sourceAccount.address !== signingContext.account.address
  const bumped = draft.bumped || channel
  const signer = stellarSigner(signingContext.account.signer)
  if (draft.externallySigned) return bump(openEnvelope(draft.envelope), draft, signingContext, passphrase)
  const tx = fillIn(draft, signingContext, { channel, bumped })
  const hash = hashTransaction(tx, passphrase)
  const signers = channel ? [stellarSigner(signingContext.sourceAccount.signer), signer] : [signer]
  const signed = await Promise.all(signers.map((one) => signHash(hash, one)))
  const envelope = new TransactionV1Envelope({ tx, signatures: signed.map(({ decorated }) => decorated) })
  if (bumped) return bump(envelope, draft, signingContext, passphrase)
  return {
    raw: TransactionEnvelope.envelopeTypeTx(envelope).toXdr(),
    hash: hash.toString('hex'),
    signature: presentSignature(signed[0]?.bytes ?? new Uint8Array()),
  }
}

/**
 * Sets sequence number, fee and, on a channel, sources. Inside a fee bump the transaction itself bids nothing
 * for inclusion, so that it cannot be extracted and included alone, under a hash that the service does not
 * look up.
 */
function fillIn(
  draft: StellarDraft,
  { sourceAccount, nonce }: SigningContext,
  { channel, bumped }: { readonly channel: boolean; readonly bumped: boolean },
): Transaction {
  const { tx } = openEnvelope(draft.envelope)
  if (nonce === undefined) throw new Error('a Stellar transaction needs a sequence number')
  const filled = { seqNum: nonce, fee: Number(bumped ? draft.resourceFee : totalFee(draft, false)) }
  if (!channel) return withFields(tx, filled)
  const operations = tx.operations.map(
    ({ sourceAccount, body }) => new Operation({ sourceAccount: sourceAccount ?? tx.sourceAccount, body }),
  )
  return withFields(tx, { ...filled, operations, sourceAccount: toMuxedAccount(sourceAccount.address) })
}

/**
 * Wraps a transaction in a fee bump: the fee is the relayer's, everything else stays as it was signed
 * (CAP-15). The inner hash is stored, because others may also wrap the inner transaction.
 */
async function bump(
  inner: TransactionV1Envelope,
  draft: StellarDraft,
  { account }: SigningContext,
  passphrase: string,
): Promise<SignedDraft> {
  const tx = new FeeBumpTransaction({
    feeSource: toMuxedAccount(account.address),
    fee: totalFee(draft, true),
    innerTx: FeeBumpTransactionInnerTx.envelopeTypeTx(inner),
    ext: FeeBumpTransactionExt.v0(),
  })
  const hash = hashFeeBump(tx, passphrase)
  const { decorated, bytes } = await signHash(hash, stellarSigner(account.signer))
  const envelope = new FeeBumpTransactionEnvelope({ tx, signatures: [decorated] })
  return {
    raw: TransactionEnvelope.envelopeTypeTxFeeBump(envelope).toXdr(),
    hash: hash.toString('hex'),
    innerHash: hashTransaction(inner.tx, passphrase).toString('hex'),
    signature: presentSignature(bytes),
  }
}

/** The prefix of SEP-53, "Message format". No signature payload of a transaction begins with it. */
const PREFIX = 'Stellar Signed Message:\n'

/**
 * Signs a message with ed25519 over SHA-256 of the prefix and the message's UTF-8 bytes (SEP-53). The answer
 * adds the signature in base64 and the signer's `G…` address to the contract's fields, as tools of that
 * standard exchange them.
 */
export async function signMessage(message: string, signer: Signer): Promise<MessageSignature> {
  const hash = createHash('sha256').update(PREFIX).update(message, 'utf8').digest()
  return signDetached(hash, stellarSigner(signer))
}

/** A signer with an ed25519 key, the curve of Stellar. */
export type StellarSigner = Extract<Signer, { curve: 'ed25519' }>

/**
 * Returns the signer with the right type.
 * @throws Error for another curve: the configuration is checked before anything is signed
 */
export function stellarSigner(signer: Signer | undefined): StellarSigner {
  if (signer?.curve !== 'ed25519') throw new Error('a Stellar account needs a signer of curve ed25519')
  return signer
}

/** Signs a hash, and adds the last 4 bytes of the key as the hint by which the network finds it. */
export async function signHash(
  hash: Uint8Array,
  signer: StellarSigner,
): Promise<{ readonly decorated: DecoratedSignature; readonly bytes: Uint8Array }> {
  const bytes = await signer.sign(hash)
  return { decorated: new DecoratedSignature({ hint: hintOf(signer.publicKey), signature: bytes }), bytes }
}

/**
 * Signs a hash for someone who takes the signature without an envelope: in the contract's form, and in base64
 * with the `G…` address.
 */
export async function signDetached(hash: Uint8Array, signer: StellarSigner): Promise<MessageSignature> {
  const bytes = await signer.sign(hash)
  return {
    ...presentSignature(bytes),
    signature: Buffer.from(bytes).toString('base64'),
    publicKey: addressOf(signer),
  }
}

/** Returns true if the hint of a signature names this key. */
export function claimsToBeBy({ hint }: DecoratedSignature, publicKey: Uint8Array): boolean {
  return Buffer.from(hint.toBytes()).equals(hintOf(publicKey))
}

/** Returns true if this key made the signature. */
export function isBy({ signature }: DecoratedSignature, publicKey: Uint8Array, hash: Uint8Array): boolean {
  const bytes = signature.toBytes()
  return bytes.length === 64 && verify(null, hash, toKeyObject(publicKey), bytes)
}

/** Returns the 64 bytes in the contract's form: both halves, the whole, and no recovery number. */
export function presentSignature(bytes: Uint8Array): Signature {
  const sig = Buffer.from(bytes).toString('hex')
  return { r: sig.slice(0, 64), s: sig.slice(64), v: 0, sig }
}

/** Returns the `G…` address of a signer. */
function addressOf(signer: StellarSigner): string {
  return accountIdOf(signer.publicKey)
}

function hintOf(publicKey: Uint8Array): Buffer {
  return Buffer.from(publicKey.subarray(-4))
}

function toKeyObject(publicKey: Uint8Array) {
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') },
    format: 'jwk',
  })
}
