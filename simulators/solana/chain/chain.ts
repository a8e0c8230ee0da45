import { randomBytes } from 'node:crypto'
import type { Address } from '@solana/kit'
import type { AccountState } from '../runtime/account.ts'
import { base58 } from '../runtime/bytes.ts'
import { createVm, type Vm } from '../runtime/vm.ts'
import { type AccountHistory, createAccountHistory } from './accounts.ts'
import type { Standpoint } from './age.ts'
import { type Block, hashBlock } from './block.ts'
import { type Blocks, createBlocks } from './blocks.ts'
import { createPool, type Pool } from './pool.ts'

/** The rules of the network. */
export interface Rules {
  /** Blocks between the newest and the newest finalized one; 31 on the public networks. */
  readonly finalizedLag: number
  /** Blocks between the newest and the newest confirmed one; 1 on the public networks, as a rule. */
  readonly confirmedLag: number
  /** Newest finalized blocks whose statuses a node has at hand, besides those above them; 300 on the public networks (status_cache.rs). */
  readonly recentBlocks: number
  /** Most accounts of a transaction; 64 on the public networks, 128 with SIMD-83's feature (`increase_tx_account_lock_limit`). */
  readonly accountLocks: number
  /** Newest blocks that a node has at all; what is older is asked for in vain. */
  readonly historyBlocks: number
  /** Lamports that an account must hold for each of its bytes, those of overhead included; lowered in steps (SIMD-0437). */
  readonly lamportsPerByte: bigint
  /**
   * Leaders put transactions into blocks that are not executed and cost nothing: `fee_payers` where the payer cannot pay (SIMD-0290) · `nonces`
   * also those with a durable nonce, which then can be included once more (SIMD-0297) · `none` on the public networks of 2026.
   */
  readonly noOps: 'none' | 'fee_payers' | 'nonces'
  /** Names the network; random if absent. */
  readonly genesisHash?: string
}

/** The transactions that leaders accept, from now on. */
export interface Market {
  /** Most transactions of a block. */
  capacity: number
  /** Least price of a compute unit that gets into a block, in millionths of a lamport. */
  requiredPrice: bigint
  /** The price that `getRecentPrioritizationFees` tells of the blocks to come, in the same unit. */
  recentPrice: bigint
}

/** A network: its blocks, its accounts, what waits. `produce.ts` moves it. */
export interface Chain {
  readonly genesisHash: string
  readonly rules: Rules
  readonly market: Market
  /** The accounts as they are with the newest block. */
  readonly vm: Vm
  readonly accounts: AccountHistory
  readonly blocks: Blocks
  readonly pool: Pool
  /** Place of the newest finalized block. It never goes back. */
  root: number
  /** The slot of the block to come. A slot is never used twice, not even on another fork. */
  nextSlot: bigint
}

/** The first slot: litesvm's programs were deployed just before (litesvm `MAINNET_DEFAULT_SLOT`). */
const FIRST_SLOT = 447_552_100n

/** Blocks are fewer than slots, as on the networks: who mistakes one for the other must fail. */
const FIRST_HEIGHT = 425_000_000n

/** A network with one block. `time` is in seconds since 1970. */
export function createChain(rules: Rules, market: Market, time: bigint): Chain {
  const { genesisHash = base58(randomBytes(32)) } = rules
  const vm = createVm(rules.lamportsPerByte)
  const chain: Chain = {
    genesisHash,
    rules,
    market,
    vm,
    accounts: createAccountHistory(),
    blocks: createBlocks(firstBlock(genesisHash, time)),
    pool: createPool(),
    root: 0,
    nextSlot: FIRST_SLOT + 1n,
  }
  vm.enter({ slot: FIRST_SLOT, parentBlockhash: genesisHash, time })
  return chain
}

function firstBlock(genesisHash: string, time: bigint): Block {
  return {
    slot: FIRST_SLOT,
    parentSlot: FIRST_SLOT - 1n,
    height: FIRST_HEIGHT,
    blockhash: hashBlock(genesisHash, FIRST_SLOT, []),
    parentBlockhash: genesisHash,
    time,
    transactions: [],
    prioritizationFee: 0n,
  }
}

/** The account as it was with the block at this place. */
export function accountAt(
  { accounts, blocks, vm }: Chain,
  address: Address,
  index: number,
): AccountState | undefined {
  const account = accounts.at(address, blocks.near(index).slot)
  return account === 'unchanged' ? vm.account(address) : account
}

/** The chain as it was with the block at this place. */
export function standpointAt(chain: Chain, index: number): Standpoint {
  return { blocks: chain.blocks, index, account: (address) => accountAt(chain, address, index) }
}
