import { type BroadcastResult, NO_REPLY } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { isNoop, openAttempts } from '../model/attempts.ts'
import { isPriceNamed, speedUpAfterMs } from '../model/due.ts'
import { reportFinished, traceStep } from '../model/observer.ts'
import { isExternallySigned, type RelayerRuntime, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { saveOutcomes } from '../store/attempts-store.ts'
import { postponeTransactions } from '../store/due-store.ts'
import { hasFollowers } from '../store/queue-store.ts'
import { announceIncident, saveInOwnTransaction, saveTransactions } from '../store/transactions-store.ts'
import { isAboutPrice } from './follow-up.ts'
import { broadcastByRoute, routeOf, willBePublic } from './route.ts'
import { applyResult, type Settled } from './settle-broadcast.ts'
import { comparedAttempt, isComparison } from './unclear.ts'

/**
 * Broadcasts the current attempt of each transaction and stores the node's replies. The bytes are already
 * stored, so any process may repeat this at any time. Returns the transactions with the results; a record
 * that has since changed is not overwritten.
 */
export async function broadcastCurrent(
  context: TransactionsContext,
  runtime: RelayerRuntime,
  items: readonly TransactionWithAttempts[],
): Promise<{ transaction: Transaction; result: BroadcastResult }[]> {
  const marked = await markPrivate(
    context,
    runtime,
    items.filter((item) => currentAttempt(item) !== undefined && !isAwaitingExpiry(runtime, item)),
  )
  const ready = marked.flatMap((item) => {
    const attempt = currentAttempt(item)
    return attempt === undefined ? [] : [{ item, attempt }]
  })
  if (marked.length === 0) return []
  const step = { name: 'broadcast', transactions: ready.map(({ item }) => item.transaction) } as const
  const results = await traceStep(context, step, () =>
    broadcastByRoute(
      runtime.chain,
      ready.map(({ item, attempt }) => ({
        raw: attempt.signed.raw,
        route: routeOf(item.transaction),
        mayBeInPool: mayBeInPool(item, attempt),
        compared: isComparison(item.transaction, attempt) ? comparedAttempt(item)?.signed.raw : undefined,
      })),
    ),
  )
  const replies = ready.map((reply, index) => ({ ...reply, result: results[index] ?? NO_REPLY }))
  const now = new Date(context.clock.now())
  const holding = await holdingOthers(context, replies, now)
  const settled = replies.map((reply) =>
    settle(runtime, { ...reply, holdsOthers: holding.has(reply.item.transaction.id) }, now),
  )
  const { db } = context
  const saved = await transact(db, async (tx) => {
    const written = await writeRecords(tx, settled)
    const byId = new Map(written.map((transaction) => [transaction.id, transaction]))
    await saveOutcomes(
      tx,
      settled.map(({ outcome }) => outcome),
      { openOnly: true },
    )
    await announceIncident(tx, 'transaction_stuck', newlyStuck(settled, byId))
    return byId
  })
  logStuck(context, settled, saved)
  reportFinished(context, [...saved.values()])
  reportSubmitted(
    context,
    ready.map(({ item }) => item),
    saved,
  )
  return settled.map(({ transaction, result }) => ({
    transaction: saved.get(transaction.id) ?? transaction,
    result,
  }))
}

/** The ids of the transactions that block others with a caller's price which no node accepts, or will. */
async function holdingOthers(
  { db, relayerOf }: TransactionsContext,
  replies: readonly BroadcastReply[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const refused = replies.flatMap(({ item: { transaction }, result }) =>
    isAboutPrice(result.kind) && isPriceNamed(transaction) ? [transaction] : [],
  )
  const blocked = await Promise.all(
    refused.map(async (transaction) => {
      const relayer = await relayerOf(transaction.relayerId)
      if (relayer === undefined || willBePublic(relayer, transaction)) return false
      return hasFollowers(db, transaction, now)
    }),
  )
  return new Set(refused.flatMap(({ id }, index) => (blocked[index] ? [id] : [])))
}

/** A node accepted some attempt with the same nonce before, so the bytes may still be in a mempool. */
function mayBeInPool({ attempts }: TransactionWithAttempts, { sourceAccount, nonce }: Attempt): boolean {
  return attempts.some(
    (other) =>
      other.broadcastAt !== undefined && other.sourceAccount === sourceAccount && other.nonce === nonce,
  )
}

/**
 * Treats the items as `already known` without calling a node. The attempt rows are not updated, because no
 * node confirmed them.
 */
export async function storeAsKnown(
  context: TransactionsContext,
  runtime: RelayerRuntime,
  items: readonly TransactionWithAttempts[],
): Promise<void> {
  const now = new Date(context.clock.now())
  const settled = items.flatMap((item) => {
    const attempt = currentAttempt(item)
    return attempt === undefined ? [] : [settle(runtime, { item, attempt, result: KNOWN }, now)]
  })
  const { db } = context
  await transact(db, (tx) => writeRecords(tx, settled))
}

const KNOWN: BroadcastResult = { kind: 'accepted', known: true }

/** An attempt that was broadcast, and the answer of the node. */
interface BroadcastReply {
  readonly item: TransactionWithAttempts
  readonly attempt: Attempt
  readonly result: BroadcastResult
  readonly holdsOthers?: boolean
}

interface SettledBroadcast extends Settled {
  readonly before: Transaction
  readonly result: BroadcastResult
}

function settle(runtime: RelayerRuntime, reply: BroadcastReply, now: Date): SettledBroadcast {
  const { chain } = runtime
  const before = reply.item.transaction
  const settled = applyResult({
    ...reply,
    now,
    costOf: chain.cost,
    raiseAfterMs: speedUpAfterMs(chain, before),
    expires: chain.expiry !== undefined,
    externallySigned: isExternallySigned(runtime, before),
    numbered: chain.sequencing !== undefined,
    rebroadcastAfterMs: chain.rebroadcastAfterMs,
  })
  return { before, result: reply.result, ...settled }
}

/** Transactions that a settled answer has found to block their account. */
function newlyStuck(
  settled: readonly SettledBroadcast[],
  written: ReadonlyMap<string, Transaction>,
): string[] {
  return settled.flatMap(({ before: { id, stuckSince } }) =>
    stuckSince === undefined && written.get(id)?.stuckSince !== undefined ? [id] : [],
  )
}

function logStuck(
  { log }: TransactionsContext,
  settled: readonly SettledBroadcast[],
  written: ReadonlyMap<string, Transaction>,
): void {
  for (const id of newlyStuck(settled, written)) {
    const { relayerId, statusReason } = written.get(id) ?? {}
    log.warn(
      { transaction: id, relayer: relayerId, incident: 'transaction_stuck', detail: statusReason },
      'transaction incident',
    )
  }
}

/** Writes all records, and returns those in which more than `nextRunAt` changed. */
async function writeRecords(tx: Tx, settled: readonly SettledBroadcast[]): Promise<Transaction[]> {
  const { postponed = [], changed = [] } = Object.groupBy(settled, ({ before, transaction }) =>
    isOnlyPostponed(before, transaction) ? 'postponed' : 'changed',
  )
  await postponeTransactions(
    tx,
    postponed.map(({ transaction }) => transaction),
  )
  return saveTransactions(
    tx,
    changed.map(({ transaction }) => transaction),
    { keepsRequest: true },
  )
}

/** Only `nextRunAt` differs. */
function isOnlyPostponed(before: Transaction, after: Transaction): boolean {
  const fields = Object.keys(after) as (keyof Transaction)[]
  return fields.every((field) => field === 'nextRunAt' || after[field] === before[field])
}

function reportSubmitted(
  { observer }: TransactionsContext,
  before: readonly TransactionWithAttempts[],
  saved: ReadonlyMap<string, Transaction>,
): void {
  if (observer === undefined) return
  const submitted = before.flatMap(({ transaction: { id, sentAt } }) => {
    const now = saved.get(id)
    return sentAt === undefined && now?.sentAt !== undefined ? [now] : []
  })
  if (submitted.length > 0) observer.submitted(submitted)
}

/**
 * The bytes of an undecided transaction can no longer be included. Other content follows when the current
 * bytes expire, so they must not be broadcast again either. Once the other content is signed, it excludes the
 * current bytes, as with a durable nonce of Solana: those may be current again after a reorganisation, and
 * never expire.
 */
export function isAwaitingExpiry({ chain }: RelayerRuntime, item: TransactionWithAttempts): boolean {
  if (item.transaction.undecidedSince !== undefined) return true
  if (chain.expiry === undefined || currentAttempt(item) === undefined) return false
  const { purpose } = item.transaction
  return (
    purpose === 'successor' ||
    (isNoop(purpose) && !openAttempts(item.attempts).some(({ kind }) => kind === purpose))
  )
}

/** The attempt whose bytes are currently broadcast. */
export function currentAttempt({ transaction, attempts }: TransactionWithAttempts): Attempt | undefined {
  return attempts.find((attempt) => attempt.number === transaction.currentAttempt)
}

/**
 * Stores, before any bytes leave, that transactions of a private relayer are private, and the newest block
 * before their first private broadcast. After a crash at any line they are still private, and the blocks are
 * counted from before the broadcast at the latest. Returns the transactions that may be broadcast now,
 * without those that have since changed. An unknown head delays nothing: a later broadcast stores the block,
 * so that the transaction stays private for longer.
 */
async function markPrivate(
  context: TransactionsContext,
  { chain, isPrivate }: RelayerRuntime,
  items: readonly TransactionWithAttempts[],
): Promise<readonly TransactionWithAttempts[]> {
  const canBroadcast = chain.privateBroadcast !== undefined
  const lacksMark = ({ transaction }: TransactionWithAttempts) => isPrivate && transaction.isPrivate !== true
  const lacksBlock = ({ transaction }: TransactionWithAttempts) =>
    canBroadcast &&
    (isPrivate || transaction.isPrivate === true) &&
    transaction.privateSinceBlock === undefined
  if (!items.some((item) => lacksMark(item) || lacksBlock(item))) return items
  const head = items.some(lacksBlock) ? await chain.head() : undefined
  const block = head?.kind === 'ok' ? head.value.number : undefined
  const changed = items.filter((item) => lacksMark(item) || (lacksBlock(item) && block !== undefined))
  const saved = await saveInOwnTransaction(
    context,
    changed.map((item) => ({
      ...item.transaction,
      isPrivate: true,
      privateSinceBlock: lacksBlock(item) ? block : item.transaction.privateSinceBlock,
    })),
  )
  return withSaved(items, { changed, saved })
}

function withSaved(
  items: readonly TransactionWithAttempts[],
  {
    changed,
    saved,
  }: { readonly changed: readonly TransactionWithAttempts[]; readonly saved: readonly Transaction[] },
): TransactionWithAttempts[] {
  const byId = new Map(saved.map((transaction) => [transaction.id, transaction]))
  return items.flatMap((item) => {
    if (!changed.includes(item)) return [item]
    const transaction = byId.get(item.transaction.id)
    return transaction === undefined ? [] : [{ ...item, transaction }]
  })
}
