import { MAX_SLOT_HASHES } from '../runtime/limits.ts'
import { isSigned } from '../runtime/sanitize.ts'
import type { WireTransaction } from '../runtime/transaction.ts'
import type { Moment } from '../runtime/vm.ts'
import { type Lifetime, lifetimeOf } from './age.ts'
import { applyTransaction } from './apply.ts'
import { type AppliedTransaction, type Block, hashBlock } from './block.ts'
import { type Chain, standpointAt } from './chain.ts'
import { nonceAddressOf, readNonce } from './nonce.ts'
import type { Pending } from './pool.ts'

/** One slot in so many had no block. */
const SKIPPED_EVERY = 20

/** Blocks that there were before anything happened: nothing is in them, so nothing has to run. */
export function makePast(chain: Chain, count: number, time: bigint): void {
  const { blocks, market } = chain
  for (let made = 0; made < count; made += 1) {
    const parent = blocks.last()
    if (made % SKIPPED_EVERY === SKIPPED_EVERY - 1) chain.nextSlot += 1n
    blocks.push({
      slot: chain.nextSlot,
      parentSlot: parent.slot,
      height: parent.height + 1n,
      blockhash: hashBlock(parent.blockhash, chain.nextSlot, []),
      parentBlockhash: parent.blockhash,
      time,
      transactions: [],
      prioritizationFee: market.recentPrice,
    })
    chain.nextSlot += 1n
  }
  chain.root = Math.max(chain.root, blocks.length - 1 - chain.rules.finalizedLag)
}

/**
 * Switches the network to a fork without the newest `depth` blocks: accounts have their earlier state, blockhashes and signatures of those
 * blocks are unknown, heights are used again, slots are not. Transactions that a node sends again by itself wait again. Returns the dropped
 * transactions. Finalized blocks cannot be dropped.
 */
export function fork(chain: Chain, depth: number): AppliedTransaction[] {
  const { blocks, accounts, vm, pool, root } = chain
  if (depth > blocks.length - 1 - root) {
    throw new Error(
      `a fork of ${depth} blocks is deeper than what is not finalized: ${blocks.length - 1 - root}`,
    )
  }
  const dropped = Array.from({ length: depth }, () => blocks.pop()).reverse()
  const { slot, time, parentBlockhash } = blocks.last()
  for (const address of accounts.rewind(slot)) {
    const account = accounts.at(address, slot)
    if (account !== 'unchanged') vm.set(address, account)
  }
  vm.enter({ slot, time, parentBlockhash })
  const transactions = dropped.flatMap((block) => block.transactions)
  for (const { transaction, retried } of transactions)
    if (retried) pool.add(transaction, retried, chain.nextSlot)
  return transactions
}

/** Gives a transaction to the leaders. What is not signed they throw away without a word (agave sigverify). */
export function submit({ pool, nextSlot }: Chain, transaction: WireTransaction, retried: boolean): void {
  if (isSigned(transaction)) pool.add(transaction, retried, nextSlot)
}

/** Makes the next block of what waits. `time` is in seconds since 1970. */
export function produceBlock(chain: Chain, time: bigint): Block {
  const { blocks, pool, market } = chain
  const parent = blocks.last()
  const moment = { slot: chain.nextSlot, parentBlockhash: parent.blockhash, time }
  enterMoment(chain, moment)
  const transactions = takePending(chain, moment)
  const signatures = transactions.map(({ signature }) => signature)
  const block: Block = {
    slot: moment.slot,
    parentSlot: parent.slot,
    height: parent.height + 1n,
    blockhash: hashBlock(parent.blockhash, moment.slot, signatures),
    parentBlockhash: parent.blockhash,
    time,
    transactions,
    prioritizationFee: market.recentPrice,
  }
  blocks.push(block)
  for (const signature of signatures) pool.remove(signature)
  chain.nextSlot += 1n
  chain.root = Math.max(chain.root, blocks.length - 1 - chain.rules.finalizedLag)
  return block
}

/** Lets a slot pass without a block. */
export function skipSlot(chain: Chain): void {
  chain.nextSlot += 1n
}

/** Sets the clock and the hashes of the slots before, which programs can read. */
function enterMoment({ vm, blocks }: Chain, moment: Moment): void {
  vm.enter(moment)
  const recent = blocks.all().slice(-MAX_SLOT_HASHES).reverse()
  vm.setSlotHashes(recent.map(({ slot, blockhash }) => ({ slot, hash: blockhash })))
}

/** Runs what fits into the block; what can never run any more is forgotten. */
function takePending(chain: Chain, moment: Moment): AppliedTransaction[] {
  const { pool, market, blocks } = chain
  const taken: AppliedTransaction[] = []
  for (const pending of pool.inOrder()) {
    const { signature } = pending.transaction
    const lifetime = lifetimeNow(chain, pending)
    const isIncluded = blocks.indexOfMessage(pending.transaction.message.hash) !== undefined
    const isForgotten = !pending.retried && moment.slot > pending.untilSlot
    if (isForgotten || isIncluded || (!lifetime && !mayLiveAgain(chain, pending))) pool.remove(signature)
    else if (lifetime && taken.length < market.capacity && pending.price >= market.requiredPrice) {
      const applied = applyTransaction(chain, moment, pending, lifetime)
      if (applied) taken.push(applied)
      else if (!pending.retried) pool.remove(signature)
    }
  }
  return taken
}

/** Returns the life of a pending transaction in the state after the transactions before it in the same block. */
function lifetimeNow(chain: Chain, { transaction }: Pending): Lifetime | undefined {
  const standpoint = standpointAt(chain, chain.blocks.length - 1)
  return lifetimeOf(transaction.message, { ...standpoint, account: chain.vm.account })
}

/** A durable nonce that was set in this block is good in the next one. */
function mayLiveAgain({ vm }: Chain, { transaction, retried }: Pending): boolean {
  const address = nonceAddressOf(transaction.message)
  if (address === undefined || !retried) return false
  return readNonce(address, vm.account(address))?.nonce === transaction.message.blockhash
}
