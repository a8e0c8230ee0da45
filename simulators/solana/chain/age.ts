import type { Address } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { base58 } from '../runtime/bytes.ts'
import { MAX_PROCESSING_AGE } from '../runtime/limits.ts'
import type { Message } from '../runtime/transaction.ts'
import type { Blocks } from './blocks.ts'
import { durableNonceOf, firstInstructionIsSignedBy, nonceAddressOf, readNonce } from './nonce.ts'

/** By what a transaction is young enough: its blockhash, or the nonce account that it uses up. */
export type Lifetime = 'blockhash' | { readonly nonce: Address }

/** A position in the chain: on the block at this index, about to run the transactions after it. */
export interface Standpoint {
  readonly blocks: Blocks
  readonly index: number
  account(address: Address): AccountState | undefined
}

/**
 * Returns the reason why a transaction may run now; undefined if it may not: BlockhashNotFound (agave
 * runtime/src/bank/check_transactions.rs). A blockhash may be 150 blocks old, counted from the newest one: so the last block that accepts
 * it is one higher than the last valid block height that the RPC reports, which is that of the node's own newest block.
 */
export function lifetimeOf(
  message: Message,
  at: Standpoint,
  maxAge: number = MAX_PROCESSING_AGE,
): Lifetime | undefined {
  const age = ageOf(message.blockhash, at)
  if (age !== undefined && age <= maxAge) return 'blockhash'
  const address = nonceAddressOf(message)
  if (address === undefined) return undefined
  const next = base58(durableNonceOf(at.blocks.near(at.index).blockhash))
  const state = readNonce(address, at.account(address))
  const usable = state?.nonce === message.blockhash && message.blockhash !== next
  return usable && firstInstructionIsSignedBy(message, state.authority) ? { nonce: address } : undefined
}

/** Returns the number of blocks after that of this blockhash; undefined if it is unknown here. */
export function ageOf(blockhash: string, { blocks, index }: Standpoint): number | undefined {
  const found = blocks.positionOf(blockhash)
  return found === undefined || found > index ? undefined : index - found
}

/** Returns the last block height at which `isBlockhashValid` is true (agave `get_blockhash_last_valid_block_height`). */
export function lastValidBlockHeight(blockhash: string, at: Standpoint): bigint | undefined {
  const age = ageOf(blockhash, at)
  return age === undefined ? undefined : at.blocks.near(at.index).height + BigInt(MAX_PROCESSING_AGE - age)
}
