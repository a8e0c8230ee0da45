import { createHash } from 'node:crypto'
import type { Address } from '@solana/kit'
import { base58 } from '../runtime/bytes.ts'
import type { TransactionError } from '../runtime/errors.ts'
import type { TokenBalance } from '../runtime/token.ts'
import type { WireTransaction } from '../runtime/transaction.ts'
import type { Execution } from '../runtime/vm.ts'
import type { LoadedAddresses } from './lookup-tables.ts'

/** The balances of the accounts of a transaction. */
export interface Balances {
  /** The lamports of each of its `keys`, 0 where there is no account. */
  readonly lamports: readonly bigint[]
  /** The tokens of those of its `keys` that are token accounts. */
  readonly tokens: readonly TokenBalance[]
}

/** A transaction that is in a block. */
export interface AppliedTransaction {
  readonly signature: string
  readonly slot: bigint
  readonly transaction: WireTransaction
  /** All its accounts: those of the message, then those looked up, the writable ones first. */
  readonly keys: readonly Address[]
  /** The `keys` that were looked up in tables. */
  readonly loaded: LoadedAddresses
  /** The error of the transaction; the fee was charged all the same, unless it was not executed. */
  readonly err: TransactionError | null
  /** Lamports that the first key paid. */
  readonly fee: bigint
  /** The balances before and after. */
  readonly before: Balances
  readonly after: Balances
  /** The logs and the calls of the programs. */
  readonly meta: Execution['meta']
  /** It was not executed, and no one remembers it: a later block may contain it, too. */
  readonly mayComeAgain?: boolean
  /** The node that received it sends it again when a fork drops it. */
  readonly retried: boolean
}

/** A block; a slot without one was skipped. */
export interface Block {
  readonly slot: bigint
  readonly parentSlot: bigint
  /** The number of blocks before it. */
  readonly height: bigint
  readonly blockhash: string
  readonly parentBlockhash: string
  /** Seconds since 1970. */
  readonly time: bigint
  /** In the order in which they ran. */
  readonly transactions: readonly AppliedTransaction[]
  /** Millionths of a lamport for each compute unit that the network told of at this time. */
  readonly prioritizationFee: bigint
}

/** A blockhash that no other block has: of the block before, the slot and what is in it. */
export function hashBlock(parentBlockhash: string, slot: bigint, signatures: readonly string[]): string {
  const text = [parentBlockhash, slot, ...signatures].join(' ')
  return base58(createHash('sha256').update(text).digest())
}
