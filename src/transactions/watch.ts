import type { Head } from '../chains/chain.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { Operator, TransactionsContext } from './context.ts'
import { fillGaps } from './fill-gaps.ts'
import { judge, type Watch } from './judge.ts'
import { findAttempts, saveOutcomes, saveTransactions } from './store.ts'
import type { Transaction, TransactionWithAttempts } from './transaction.ts'
import { finalised, type Verdict } from './verdict.ts'
import type { WatchMemory } from './watch-memory.ts'
import { findWatched, hasWatched } from './work-store.ts'

/**
 * Asks the chain what became of everything signed and not final on one network, and writes it down. The number of
 * calls grows with blocks and accounts: receipts are asked only where the account's nonce has passed, block hashes once
 * per block that holds something of ours.
 */
export async function watchNetwork(
  context: TransactionsContext,
  { operator, relayers, memory }: { operator: Operator; relayers: readonly Relayer[]; memory: WatchMemory },
): Promise<void> {
  const ids = relayers.map((relayer) => relayer.id)
  if (!(await hasWatched(context.db, ids))) return
  const { chain, network } = operator
  const head = await chain.head()
  const now = context.clock.now()
  if (head.kind !== 'ok' || isBehind(head.value, memory, now)) return // It decides nothing (I6).
  if (head.value.hash === memory.settledAt) return
  memory.highest = { number: head.value.number, at: now }
  // Read after the head: what this block holds was stored before it was broadcast, so nothing of it is missing here.
  const watched = await findWatched(context.db, ids)
  const watch: Watch = {
    context,
    chain,
    head: head.value,
    confirmations: BigInt(network.requiredConfirmations),
    relayers: new Map(relayers.map((relayer) => [relayer.id, relayer])),
    memory,
    open: false,
  }
  const mined = watched.filter((transaction) => transaction.status === 'mined')
  const unmined = watched.filter((transaction) => transaction.status !== 'mined')
  const { passed, nonces } = await whoseNoncePassed(watch, unmined)
  const moved = await whoseBlockMoved(watch, mined)
  await settleFinal(
    watch,
    mined.filter((transaction) => !moved.has(transaction.id)),
  )
  await settleReceipts(watch, [
    ...passed,
    ...mined.filter((transaction) => moved.get(transaction.id) === true),
  ])
  await fillGaps(context, { unmined, nonces })
  memory.settledAt = watch.open ? undefined : head.value.hash
}

/**
 * How long a lower head is taken for a replica that lags, in ms. A chain that is still lower after that was rolled back;
 * without an end to the doubt, the watcher would stand still until the old height is reached again.
 */
const LAG_MS = 60_000

function isBehind(head: Head, { highest }: WatchMemory, now: number): boolean {
  return head.number < highest.number && now < highest.at + LAG_MS
}

async function whoseNoncePassed(
  watch: Watch,
  unmined: readonly Transaction[],
): Promise<{ passed: Transaction[]; nonces: Map<string, bigint> }> {
  const { chain, relayers } = watch
  const ids = [...new Set(unmined.map((transaction) => transaction.relayerId))]
  const answers = await chain.nonces(
    ids.map((id) => relayers.get(id)?.address ?? ''),
    { asOf: watch.head.number },
  )
  const nonces = new Map(
    ids.flatMap((id, index) => {
      const answer = answers[index]
      return answer?.kind === 'ok' ? [[id, answer.value] as const] : []
    }),
  )
  if (nonces.size < ids.length) watch.open = true
  const passed = unmined.filter(
    ({ relayerId, nonce }) => nonce !== undefined && nonce < (nonces.get(relayerId) ?? 0n),
  )
  return { passed, nonces }
}

/** Mined transactions whose block is another one now (`true`) or could not be asked for (`false`). */
async function whoseBlockMoved(watch: Watch, mined: readonly Transaction[]): Promise<Map<string, boolean>> {
  const heights = [...new Set(mined.map((transaction) => transaction.block?.number ?? 0n))]
  const hashes = await Promise.all(
    heights.map((height) => watch.chain.blockHash(height, { asOf: watch.head.number })),
  )
  if (hashes.some((answer) => answer.kind !== 'ok')) watch.open = true
  const now = new Map(heights.map((height, index) => [height, hashes[index]]))
  const moved = new Map<string, boolean>()
  for (const { id, block } of mined) {
    const answer = now.get(block?.number ?? 0n)
    if (answer?.kind !== 'ok') moved.set(id, false)
    else if (answer.value !== block?.hash) moved.set(id, true)
  }
  return moved
}

/** Their block is still in the chain; deep enough, they are final (I7). */
async function settleFinal(watch: Watch, mined: readonly Transaction[]): Promise<void> {
  const deep = mined.filter(({ block }) => block && watch.head.number >= block.number + watch.confirmations)
  const items = await withAttempts(watch, deep)
  await write(
    watch,
    items.map((item) => finalised(item, new Date(watch.context.clock.now()))),
  )
}

async function settleReceipts(watch: Watch, transactions: readonly Transaction[]): Promise<void> {
  const items = await withAttempts(watch, transactions)
  const hashes = items.flatMap((item) => item.attempts.map((attempt) => attempt.signed.hash))
  const answers = await watch.chain.receipts(hashes, { asOf: watch.head.number })
  const receipts = new Map(hashes.map((hash, index) => [hash, answers[index]]))
  const judged = await Promise.all(items.map((item) => judge(watch, item, receipts)))
  await write(
    watch,
    judged.filter((verdict) => verdict !== undefined),
  )
}

async function withAttempts(
  { context }: Watch,
  transactions: readonly Transaction[],
): Promise<TransactionWithAttempts[]> {
  const attempts = await findAttempts(context.db, transactions)
  return transactions.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] }))
}

async function write(watch: Watch, verdicts: readonly Verdict[]): Promise<void> {
  if (verdicts.length === 0) return
  await watch.context.db.transaction().execute(async (tx) => {
    const saved = await saveTransactions(
      tx,
      verdicts.map((verdict) => verdict.transaction),
    )
    const written = new Set(saved.map((transaction) => transaction.id))
    if (written.size < verdicts.length) watch.open = true
    // Not before: a verdict that came too late is judged again at once, and not after the whole wait.
    for (const id of written) watch.memory.missingSince.delete(id)
    const kept = verdicts.filter((verdict) => written.has(verdict.transaction.id))
    await saveOutcomes(
      tx,
      kept.flatMap((verdict) => verdict.outcomes),
    )
  })
}
