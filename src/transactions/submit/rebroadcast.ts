import type { BroadcastResult } from '../../chains/answer.ts'
import { transact } from '../../database/locks/transact.ts'
import { broadcastCurrent, currentAttempt, isAwaitingExpiry, storeAsKnown } from '../broadcast/broadcast.ts'
import { willBePublic } from '../broadcast/route.ts'
import { isComparisonDue } from '../broadcast/unclear.ts'
import { isNoop } from '../model/attempts.ts'
import { WATCHED_MS } from '../model/due.ts'
import { accountOf, type LeasedAccount, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { postponeTransactions } from '../store/due-store.ts'
import { findHead } from '../store/queue-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { markStuck } from '../watch/stuck.ts'
import { signAll, storeSigned } from './sign.ts'

/**
 * Broadcasts the same bytes of `due` again, in nonce order: bytes that no node accepted yet, and bytes that a
 * mempool may have lost. If the mempool still knows the first accepted one, it probably knows the others, so
 * waiting transactions cost one call for each account and not one for each transaction. A transaction that
 * the mempool lost is found when it becomes the first. Returns what the nodes said that needs other bytes.
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
  // A pool says nothing about private transactions: they are in none, or were made public at another time.
  // And a transaction that a block included and lost before a node reported its acceptance is submitted
  // without an acceptance.
  const isAccepted = ({ transaction: { status, sentAt, isPrivate } }: TransactionWithAttempts) =>
    status === 'submitted' && sentAt !== undefined && isPrivate !== true
  await storeAsKnown(context, leased.runtime, others.filter(isAccepted))
  const open = others.filter((item) => !isAccepted(item))
  const refused = refusedOf(await broadcastCurrent(context, leased.runtime, open))
  return { refused, ...(result.queuedInPool === true && { queuedInPool: first }) }
}

/** The answers of the nodes to a rebroadcast that need other bytes. */
interface Rebroadcast {
  /** The transaction that all nodes know and keep queued. */
  readonly queuedInPool?: TransactionWithAttempts | undefined
  /** The transactions that nodes refuse in unknown wording. */
  readonly refused: readonly Refused[]
}

/** A transaction that nodes refuse in unknown wording. */
interface Refused {
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

/** The watcher follows transactions whose bytes only need to expire. */
async function keepWatched(
  { db, clock }: TransactionsContext,
  waiting: readonly TransactionWithAttempts[],
): Promise<void> {
  const nextRunAt = new Date(clock.now() + WATCHED_MS)
  const postponed = waiting.map(({ transaction }) => ({ ...transaction, nextRunAt }))
  if (postponed.length > 0) await transact(db, (tx) => postponeTransactions(tx, postponed))
}

/**
 * Decides about the first transaction of the account's queue when nodes keep refusing it in unknown wording:
 * a no-op with its nonce is signed, stored and broadcast right after the refusal. A node that accepts it
 * refuses only the content, and the transaction ends with this no-op (`settle-broadcast.ts`). The others of
 * the queue cannot be included before the first, so they are not considered. A crash between any two steps
 * changes nothing: the no-op is broadcast then by the next step, and the chain decides between all attempts
 * (I4).
 */
export async function compareRefused(
  context: TransactionsContext,
  leased: LeasedAccount,
  refused: readonly Refused[],
): Promise<void> {
  const { relayer, runtime } = leased
  if (refused.length === 0 || runtime.chain.comparison === undefined) return
  const head = await findHead(context.db, relayer.id)
  const first = refused.find(({ transaction }) => transaction.id === head?.id)
  if (head === undefined || first === undefined) return
  const attempts = await findAttempts(context.db, [head])
  const item = { transaction: head, attempts: attempts.get(head.id) ?? [] }
  if (!isComparisonDue(item, first.unanswered) || !(await isNext(leased, item))) return
  // A no-op that nodes refuse needs no other to be compared with.
  if (isNoop(head.purpose)) return head.stuckSince ? undefined : markStuck(context, head)
  if (!willBePublic(relayer, head)) await compare(context, leased, item)
}

/** A nonce that the chain has passed, or has not reached, explains every refusal. Unknown is neither (I6). */
async function isNext(
  { runtime }: LeasedAccount,
  { transaction }: TransactionWithAttempts,
): Promise<boolean> {
  const { sourceAccount = transaction.from, nonce } = transaction
  const [next] = (await runtime.chain.sequencing?.nonces([sourceAccount])) ?? []
  return next?.kind === 'ok' && next.value === nonce
}

async function compare(
  context: TransactionsContext,
  { relayer, runtime, lease }: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  const { chain } = runtime
  const { transaction, attempts } = item
  const current = currentAttempt(item)
  if (current === undefined || chain.comparison === undefined) return
  const [balance, noop] = await Promise.all([
    chain.balance(transaction.from),
    chain.comparison.prepareNoop(current, accountOf(relayer)),
  ])
  if (balance.kind !== 'ok' || noop.kind !== 'ok') return
  // The no-op costs less, so it would show nothing.
  if (balance.value < chain.cost(current.draft)) {
    const statusReason = `Waiting for funds: the account can spend ${balance.value} ${chain.unit}, and this costs up to ${chain.cost(current.draft)}; the nodes refuse it: ${current.error ?? ''}`
    await saveInOwnTransaction(context, [{ ...transaction, statusReason }])
    return
  }
  const statusReason = `The nodes refuse it in unknown wording (${current.error ?? ''}). A no-op with its nonce is broadcast: if a node accepts it, the transaction ends.`
  const signable = {
    transaction: { ...transaction, statusReason },
    attempts,
    draft: noop.value.draft,
    kind: 'abandon' as const,
  }
  const signed = await signAll(context, runtime, [signable])
  await broadcastCurrent(context, runtime, await storeSigned(context, { runtime, signed, lease }))
}
