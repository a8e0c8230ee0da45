import { FeeBumpTransaction, type Keypair, type Transaction, TransactionBuilder } from '@stellar/stellar-sdk'
import type { TestLedger } from '../start-ledger.ts'

/** A fee bump around the inner transaction of a third party. */
export interface Wrapped {
  /** The hash of the fee bump, in hex. */
  readonly hash: string
  /** `TransactionEnvelope`, XDR in base64. */
  readonly envelope: string
}

/**
 * Wraps a signed transaction, or the inner one of a fee bump, in a fee bump of the payer's own. Nothing in CAP-15 ties an inner
 * transaction to its payer, and every node gossips it. `rate` is bid for each operation, in stroops; a fee bump
 * counts as one operation more.
 */
export function wrapAs(
  ledger: Pick<TestLedger, 'passphrase'>,
  payer: Keypair,
  envelope: string,
  rate: number,
): Wrapped {
  const inner = innerOf(envelope, ledger.passphrase)
  // CAP-15: a fee bump offers at least the rate of what it wraps; the SDK builds no other.
  const bid = Math.max(rate, Math.ceil(Number(inner.fee) / inner.operations.length))
  const bump = TransactionBuilder.buildFeeBumpTransaction(payer, String(bid), inner, ledger.passphrase)
  bump.sign(payer)
  return { hash: hexOf(bump.hash()), envelope: bump.toXDR() }
}

/** The inner transaction of a fee bump by itself, as its signer could send it. */
export function unwrap(ledger: Pick<TestLedger, 'passphrase'>, envelope: string): Wrapped {
  const inner = innerOf(envelope, ledger.passphrase)
  return { hash: hexOf(inner.hash()), envelope: inner.toXDR() }
}

/** The hash of an envelope, in hex. */
export function hashOf(ledger: Pick<TestLedger, 'passphrase'>, envelope: string): string {
  return hexOf(TransactionBuilder.fromXDR(envelope, ledger.passphrase).hash())
}

/** The signed transaction that takes the sequence number, whether it is wrapped or not. */
function innerOf(envelope: string, passphrase: string): Transaction {
  const read = TransactionBuilder.fromXDR(envelope, passphrase)
  return read instanceof FeeBumpTransaction ? read.innerTransaction : read
}

/** The hash of the signed transaction that takes the sequence number, in hex. */
export function innerHashOf(envelope: string, passphrase: string): string {
  return hexOf(innerOf(envelope, passphrase).hash())
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}
