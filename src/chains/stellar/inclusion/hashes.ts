import type { Attempt } from '../../attempt.ts'
import { hashFeeBump, hashTransaction, readEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'

/** What an envelope says of itself. Hashes in hex. */
export interface EnvelopeFacts {
  /** By which the network knows it. */
  readonly hash: string
  /** Of the transaction inside, where it is a fee bump. */
  readonly innerHash?: string
  /** `G…` of who pays its fee. */
  readonly feeAccount: string
}

/**
 * The hashes under which a ledger can hold an attempt: its own, and that of the transaction inside its fee bump. Nothing ties the inner
 * transaction to its payer (stellar-core `FeeBumpTransactionFrame`), and stellar-rpc finds by both hashes (`db/transaction.go`). A plain
 * transaction that somebody wraps is found by its own hash, which is then the inner one.
 */
export function hashesOf({ signed }: Pick<Attempt, 'signed'>, passphrase: string): readonly string[] {
  // Attempts of earlier releases were stored without it.
  const innerHash =
    signed.innerHash ?? readFacts(Buffer.from(signed.raw).toString('base64'), passphrase)?.innerHash
  return innerHash === undefined ? [signed.hash] : [signed.hash, innerHash]
}

/** Reads a signed envelope, XDR in base64; undefined for what is none. */
export function readFacts(base64: string, passphrase: string): EnvelopeFacts | undefined {
  const read = readEnvelope(base64)
  if (read === undefined) return undefined
  if (read.kind === 'transaction') {
    const { tx } = read.envelope
    return { hash: hex(hashTransaction(tx, passphrase)), feeAccount: underlying(tx.sourceAccount) }
  }
  const { tx } = read
  return {
    hash: hex(hashFeeBump(tx, passphrase)),
    innerHash: hex(hashTransaction(tx.innerTx.v1.tx, passphrase)),
    feeAccount: underlying(tx.feeSource),
  }
}

function hex(hash: Buffer): string {
  return hash.toString('hex')
}
