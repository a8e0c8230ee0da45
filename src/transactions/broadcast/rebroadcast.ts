import type { BroadcastResult } from '../../chains/answer.ts'
import { WATCHED_MS } from '../model/due.ts'
import type { LeasedAccount, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { postponeTransactions } from '../store/work-store.ts'
import { broadcastCurrent, isAwaitingExpiry, settleAsKnown } from './broadcast.ts'

/**
 * Broadcasts the same bytes of `due` again, in nonce order: bytes that no node accepted yet, and bytes that a mempool may have lost. If the
 * mempool still knows the first accepted one, it probably knows the others, so waiting transactions cost one call for each account and not
 * one for each transaction. A transaction that the mempool lost is found when it becomes the first. Returns what the nodes said that needs
 * other bytes.
 */
export async function rebroadcastDue(
  context: TransactionsContext,
  leased: LeasedAccount,
  due: readonly Transaction[],
): Promise<Rebroadcast> {
  if (due.length === 0) return NOTHING
  const attempts = await findAttempts(context.db, due)
  const { waiting = [], items = [] } = Object.groupBy(
    due.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] })),
    (item) => (isAwaitingExpiry(leased.runtime, item) ? 'waiting' : 'items'),
  )
  await keepWatched(context, waiting)
  const first = items.find(({ transaction }) => transaction.status === 'submitted')
  const others = items.filter((item) => item !== first)
  const { sequencing } = leased.runtime.chain
  if (sequencing === undefined || sequencing.maxInFlight === 1) {
    // No transaction waits for another.
    return { ...NOTHING, refused: refusedOf(await broadcastCurrent(context, leased.runtime, items)) }
  }
  const answers = first ? await broadcastCurrent(context, leased.runtime, [first]) : []
  const result = answers[0]?.result
  if (result?.kind !== 'accepted' || result.known !== true) {
    answers.push(...(await broadcastCurrent(context, leased.runtime, others)))
    return { ...NOTHING, refused: refusedOf(answers) }
  }
  // One pool tells nothing about private transactions: they are in none, or were made public at another time. And what a block has included and
  // lost before a node said that it took it is submitted without an acceptance.
  const isAccepted = ({ transaction: { status, sentAt, isPrivate } }: TransactionWithAttempts) =>
    status === 'submitted' && sentAt !== undefined && isPrivate !== true
  await settleAsKnown(context, leased.runtime, others.filter(isAccepted))
  const open = others.filter((item) => !isAccepted(item))
  const refused = refusedOf(await broadcastCurrent(context, leased.runtime, open))
  return { refused, ...(result.queuedInPool === true && { queuedInPool: first }) }
}

/** The answers of the nodes to a rebroadcast that need other bytes. */
export interface Rebroadcast {
  /** The transaction that all nodes know and keep queued. */
  readonly queuedInPool?: TransactionWithAttempts | undefined
  /** The transactions that nodes refuse in unknown words. */
  readonly refused: readonly Refused[]
}

/** A transaction that nodes refuse in unknown words. */
export interface Refused {
  readonly transaction: Transaction
  /** Another endpoint did not answer. */
  readonly unanswered: boolean
}

const NOTHING: Rebroadcast = { refused: [] }

function refusedOf(
  answers: readonly { readonly transaction: Transaction; readonly result: BroadcastResult }[],
): Refused[] {
  return answers.flatMap(({ transaction, result }) =>
    result.kind === 'unclear' ? [{ transaction, unanswered: result.unanswered === true }] : [],
  )
}

/** The watcher follows transactions whose bytes only have to expire. */
async function keepWatched(
  { db, clock }: TransactionsContext,
  waiting: readonly TransactionWithAttempts[],
): Promise<void> {
  const nextRunAt = new Date(clock.now() + WATCHED_MS)
  const postponed = waiting.map(({ transaction }) => ({ ...transaction, nextRunAt }))
  if (postponed.length > 0) await db.transaction().execute((tx) => postponeTransactions(tx, postponed))
}
