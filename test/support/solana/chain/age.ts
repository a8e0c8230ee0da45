import type { Address } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { base58 } from '../runtime/bytes.ts'
import { MAX_PROCESSING_AGE } from '../runtime/limits.ts'
import type { Message } from '../runtime/transaction.ts'
import type { Blocks } from './blocks.ts'
import { durableNonceOf, firstInstructionIsSignedBy, nonceAddressOf, readNonce } from './nonce.ts'

/** By what a transaction is young enough: its blockhash, or the nonce account that it uses up. */
export type Lifetime = 'blockhash' | { readonly nonce: Address }

/** Where one stands: on the block at this place, about to run what comes after it. */
export interface Standpoint {
  readonly blocks: Blocks
  readonly index: number
  account(address: Address): AccountState | undefined
}

/**
 * Why a transaction may run now; nothing when it may not: BlockhashNotFound (agave runtime/src/bank/check_transactions.rs).
 * A blockhash may be 150 blocks old, counted from the newest one: so the last block that takes it is one higher than the
 * last valid block height that the RPC tells, which is that of the node's own newest block.
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

/** How many blocks there are after that of this blockhash; nothing when it is unknown here. */
export function ageOf(blockhash: string, { blocks, index }: Standpoint): number | undefined {
  const found = blocks.positionOf(blockhash)
  return found === undefined || found > index ? undefined : index - found
}

/** The last block height at which `isBlockhashValid` says yes (agave `get_blockhash_last_valid_block_height`). */
export function lastValidBlockHeight(blockhash: string, at: Standpoint): bigint | undefined {
  const age = ageOf(blockhash, at)
  return age === undefined ? undefined : at.blocks.near(at.index).height + BigInt(MAX_PROCESSING_AGE - age)
}
