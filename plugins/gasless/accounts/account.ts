import type { Hex } from 'viem'
import { RpcError } from '../errors.ts'

/** A call of the account, as if it ran the code of a listed delegate. */
export type AskAccount = (data: Hex) => Promise<Hex>

/** The account whose signed batch is sent. */
export interface BatchContext {
  readonly account: Hex
  readonly chainId: number
  readonly data: Hex
  readonly ask: AskAccount
}

/** A call that the account makes. */
export interface BatchCall {
  readonly to: Hex
  readonly value: bigint
  readonly data: Hex
}

/** What the owner of an account has signed. */
export interface SignedBatch {
  /** The hash of what is signed, for this account on this chain. */
  readonly hash: Hex
  readonly signature: Hex
  /** Names its nonce among those of the account. */
  readonly nonce: string
  /** Seconds since 1970; undefined if it never ends. */
  readonly deadline: number | undefined
}

/** An account of EIP-7702 whose signed batch anybody may execute, so that all calls happen or none. */
export interface AccountKind {
  /** The functions that do so; nothing else of the account is called. */
  readonly selectors: ReadonlySet<string>
  /** Decodes the calls alone. @throws any error for data with another encoding */
  callsOf(data: Hex): readonly BatchCall[]
  /** Decodes what is signed. @throws RpcError, or any error for data with another encoding */
  read(context: BatchContext): Promise<SignedBatch>
}

/** The most calls of a batch. */
const MAX_CALLS = 50

/** Refuses batches that are empty or too long. */
export function checkCalls(calls: readonly unknown[], most = MAX_CALLS): void {
  if (calls.length === 0) throw new RpcError('invalidParams', 'data: a batch needs at least one call.')
  if (calls.length > most) throw new RpcError('tooLarge', `data: a batch may have at most ${most} calls.`)
}
