import type { Attempt } from '../../attempt.ts'
import { hashFeeBump, hashTransaction, readEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'

/** Facts that an envelope contains. Hashes are in hex. */
export interface EnvelopeFacts {
  /** The hash that identifies it in the network. */
  readonly hash: string
  /** The hash of the transaction inside a fee bump. */
  readonly innerHash?: string
  /** The account (`G…`) that pays its fee. */
  readonly feeAccount: string
}

/**
 * Returns the hashes under which a ledger can contain an attempt: its own, and that of the transaction inside its fee bump. Nothing ties
 * the inner transaction to its payer (stellar-core `FeeBumpTransactionFrame`), and stellar-rpc finds transactions by both hashes
 * (`db/transaction.go`). A plain transaction that another party wraps is found by its own hash, which is then the inner one.
 */
export function hashesOf({ signed: { hash, innerHash } }: Pick<Attempt, 'signed'>): readonly string[] {
  return innerHash === undefined ? [hash] : [hash, innerHash]
}

/** Reads a signed envelope, XDR in base64; undefined for other text. */
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
