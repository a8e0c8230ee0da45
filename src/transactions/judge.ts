import type { Attempt, Chain, Head, ReceiptAnswer } from '../chains/chain.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { TransactionsContext } from './context.ts'
import type { Transaction, TransactionWithAttempts } from './transaction.ts'
import { type Inclusion, included, lost, reorged, type Verdict } from './verdict.ts'
import type { WatchMemory } from './watch-memory.ts'

/**
 * How long the answer "nonce used, no receipt" has to stay the same before it is believed, in ms. Where blocks come several
 * times a second, depth alone is shorter than a replica can lag behind; and what is believed here is final.
 */
const MISSING_MS = 30_000

/** One look at a network: what is asked with, and what has been seen so far. */
export interface Watch {
  readonly context: TransactionsContext
  readonly chain: Chain
  readonly head: Head
  readonly confirmations: bigint
  readonly relayers: ReadonlyMap<string, Relayer>
  readonly memory: WatchMemory
  /** Set when an answer is missing or a write came too late: the same block has to be looked at again. */
  open: boolean
}

/** Every hash is asked for; the chain decides which attempt counts (I4). */
export async function judge(
  watch: Watch,
  item: TransactionWithAttempts,
  receipts: ReadonlyMap<string, ReceiptAnswer | undefined>,
): Promise<Verdict | undefined> {
  const inclusion = await inclusionOf(watch, item, receipts)
  if (inclusion) return included(item, inclusion)
  if (item.attempts.some(({ signed }) => receipts.get(signed.hash)?.kind !== 'none')) {
    watch.open = true
    return undefined
  }
  if (item.transaction.status === 'mined')
    return reorged(item, { now: new Date(watch.context.clock.now()), costOf: watch.chain.cost })
  return usedElsewhere(watch, item)
}

async function inclusionOf(
  watch: Watch,
  { transaction, attempts }: TransactionWithAttempts,
  receipts: ReadonlyMap<string, ReceiptAnswer | undefined>,
): Promise<Inclusion | undefined> {
  for (const attempt of attempts) {
    const answer = receipts.get(attempt.signed.hash)
    if (answer?.kind !== 'included') continue
    watch.memory.missingSince.delete(transaction.id)
    const { receipt } = answer
    // Final already: the next look says so, and must not wait for a block that may be long in coming.
    if (watch.head.number >= receipt.blockNumber + watch.confirmations) watch.open = true
    const reason = receipt.success
      ? undefined
      : await revertReason(watch, transaction, attempt, receipt.blockNumber)
    return { attempt, receipt, reason }
  }
  return undefined
}

/**
 * The account's nonce has passed and none of our attempts has a receipt: one node may know the nonce and another not
 * yet the receipt. Only after the network's depth, and some time, with the same answer, and from all endpoints, is it
 * true.
 */
async function usedElsewhere(watch: Watch, item: TransactionWithAttempts): Promise<Verdict | undefined> {
  const { context, memory, head, confirmations } = watch
  const now = context.clock.now()
  const since = memory.missingSince.get(item.transaction.id) ?? { block: head.number, at: now }
  memory.missingSince.set(item.transaction.id, since)
  if (head.number < since.block + confirmations + 1n) return undefined
  if (now < since.at + MISSING_MS) {
    watch.open = true
    return undefined
  }
  const hashes = item.attempts.map((attempt) => attempt.signed.hash)
  const answers = await watch.chain.receiptsEverywhere(hashes, { asOf: head.number })
  const inclusion = await inclusionOf(
    watch,
    item,
    new Map(hashes.map((hash, index) => [hash, answers[index]])),
  )
  if (inclusion) return included(item, inclusion)
  if (answers.some(({ kind }) => kind !== 'none')) {
    watch.open = true
    return undefined
  }
  return lost(item, new Date(now))
}

async function revertReason(
  { chain, relayers }: Watch,
  transaction: Transaction,
  attempt: Attempt,
  block: bigint,
) {
  const from = relayers.get(transaction.relayerId)?.address ?? ''
  return (await chain.revertReason(attempt.draft, from, block)) ?? 'no reason could be read'
}
