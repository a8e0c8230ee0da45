import { FeeBumpTransaction, type Keypair, type Transaction, TransactionBuilder } from '@stellar/stellar-sdk'
import type { TestLedger } from './start-ledger.ts'

/** A fee bump around the inner transaction of somebody else. */
export interface Wrapped {
  /** Of the fee bump, in hex. */
  readonly hash: string
  /** `TransactionEnvelope`, XDR in base64. */
  readonly envelope: string
}

/**
 * Wraps a signed transaction, or the inner one of a fee bump, in a fee bump of the payer's own. Nothing in CAP-15 ties an inner
 * transaction to its payer, and every node gossips it. `fee` is the whole fee in stroops.
 */
export function wrapAs(ledger: TestLedger, payer: Keypair, envelope: string, fee: bigint): Wrapped {
  const inner = innerOf(envelope, ledger.passphrase)
  const rate = fee / BigInt(inner.operations.length + 1)
  const bump = TransactionBuilder.buildFeeBumpTransaction(payer, String(rate), inner, ledger.passphrase)
  bump.sign(payer)
  return { hash: hexOf(bump.hash()), envelope: bump.toXDR() }
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
