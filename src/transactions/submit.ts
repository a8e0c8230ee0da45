import type { Answer, AttemptKind, Prepared, Refusal } from '../chains/chain.ts'
import { affordable, type Ready } from './affordable.ts'
import { broadcastCurrent } from './broadcast.ts'
import { accountOf, type HeldAccount, type TransactionsContext } from './context.ts'
import { numberTransactions } from './number.ts'
import { type Signable, signAndStore } from './sign.ts'
import { findAttempts, saveTransactions } from './store.ts'
import type { Intent, Transaction } from './transaction.ts'
import { nextStatus } from './transitions.ts'
import { countInFlight, findPending } from './work-store.ts'

/** How long a transaction waits that cannot be prepared now: no node answers, or the money is not there, in ms. */
const WAIT_MS = 2_000

/**
 * Prepares, numbers, signs, stores and broadcasts what is pending, in the order of acceptance and as far as the
 * in-flight limit allows. Every line between two steps may be the last one of this process: what is stored by then is
 * enough to go on (I12).
 */
export async function submitPending(context: TransactionsContext, held: HeldAccount): Promise<void> {
  const { relayer, operator, lease } = held
  const inFlight = await countInFlight(context.db, relayer.id)
  const pending = await findPending(context.db, relayer.id, context.maxInFlight)
  const fitting = withinLimit(pending, context.maxInFlight - inFlight)
  const prepared = await prepareInOrder(context, held, dueInOrder(fitting, context.clock.now()))
  if (prepared.length === 0) return
  const { ready, short } = await affordable(context, held, prepared)
  if (short) await wait(context, short.transaction, short.reason)
  if (ready.length === 0) return
  // Asked each time: something outside may have used nonces ahead of our counter.
  const [nonce] = await operator.chain.nonces([relayer.address])
  if (nonce?.kind !== 'ok') return // Unknown is never a reason to take a number (I6).
  const numbered = await numberTransactions(context, {
    relayerId: relayer.id,
    transactions: ready.map((item) => item.transaction),
    chainNonce: nonce.value,
    lease,
  })
  const signables = await toSignables(context, ready, numbered)
  const stored = await signAndStore(context, { operator, signables, lease })
  await broadcastCurrent(context, operator, stored)
}

/** What has a nonce already is outside the limit: everything in flight may be waiting for just that nonce (I5). */
function withinLimit(pending: readonly Transaction[], room: number): Transaction[] {
  const numbered = pending.filter((transaction) => transaction.nonce !== undefined)
  const unnumbered = pending.filter((transaction) => transaction.nonce === undefined)
  return [...numbered, ...unnumbered.slice(0, Math.max(0, room - numbered.length))]
}

/** Nobody overtakes: behind one that has to wait, all wait. */
function dueInOrder(pending: readonly Transaction[], now: number): Transaction[] {
  const waiting = pending.findIndex((transaction) => transaction.nextRunAt.getTime() > now)
  return waiting === -1 ? [...pending] : pending.slice(0, waiting)
}

async function wait(
  { db, clock }: TransactionsContext,
  transaction: Transaction,
  statusReason: string,
): Promise<void> {
  const nextRunAt = new Date(clock.now() + WAIT_MS)
  await db.transaction().execute((tx) => saveTransactions(tx, [{ ...transaction, statusReason, nextRunAt }]))
}

async function prepareInOrder(
  context: TransactionsContext,
  held: HeldAccount,
  transactions: readonly Transaction[],
): Promise<Ready[]> {
  const answers = await Promise.all(transactions.map((transaction) => prepareOne(context, held, transaction)))
  const ready: Ready[] = []
  const changed: Transaction[] = []
  for (const [index, transaction] of transactions.entries()) {
    const answer = answers[index]
    if (answer?.kind === 'ok') {
      ready.push({ transaction, prepared: answer.value })
      continue
    }
    const settled = unprepared(transaction, answer ?? NO_ANSWER, new Date(context.clock.now()))
    changed.push(settled)
    if (settled.status === 'pending' && settled.intent === transaction.intent) break
  }
  if (changed.length > 0) {
    await context.db.transaction().execute((tx) => saveTransactions(tx, changed))
  }
  return ready
}

function prepareOne(
  { clock }: TransactionsContext,
  { relayer, operator: { chain } }: HeldAccount,
  transaction: Transaction,
): Promise<Answer<Prepared>> {
  const account = accountOf(relayer)
  const { request, intent, estimatedGas } = transaction
  if (intent !== 'request') return chain.prepare(chain.noop(account), account)
  if (request.validUntil !== undefined && request.validUntil.getTime() <= clock.now()) {
    return Promise.resolve({ kind: 'refused', refusal: OVERDUE })
  }
  return chain.prepare(request, account, estimatedGas)
}

const OVERDUE: Refusal = { code: 'invalid_request', detail: 'valid_until passed before it was signed.' }

type Unprepared = Exclude<Answer<Prepared>, { kind: 'ok' }>

const NO_ANSWER: Unprepared = { kind: 'unknown', detail: 'no answer' }

/**
 * What becomes of a transaction that cannot be prepared. Without a nonce it can end here; with one, a no-op has to take
 * the nonce first. Missing money and silent nodes only mean waiting.
 */
function unprepared(transaction: Transaction, answer: Unprepared, now: Date): Transaction {
  const wait = { nextRunAt: new Date(now.getTime() + WAIT_MS) }
  if (answer.kind === 'unknown')
    return { ...transaction, ...wait, statusReason: `Waiting: ${answer.detail}.` }
  const { refusal } = answer
  if (refusal.code === 'insufficient_balance') {
    return { ...transaction, ...wait, statusReason: `Waiting for funds: ${refusal.detail}` }
  }
  const overdue = refusal === OVERDUE
  if (transaction.nonce !== undefined) {
    const intent: Intent = overdue ? 'expire' : 'abandon'
    return { ...transaction, intent, statusReason: refusal.detail, nextRunAt: now }
  }
  const status = nextStatus(transaction.status, overdue ? 'expired' : 'failed')
  return { ...transaction, status, statusReason: refusal.detail, cost: 0n }
}

const KINDS: Readonly<Record<Intent, AttemptKind>> = {
  request: 'send',
  cancel: 'cancel',
  expire: 'expire',
  abandon: 'abandon',
  filler: 'filler',
}

async function toSignables(
  { db }: TransactionsContext,
  ready: readonly Ready[],
  numbered: readonly Transaction[],
): Promise<Signable[]> {
  const drafts = new Map(ready.map((item) => [item.transaction.id, item.prepared.draft]))
  const attempts = await findAttempts(db, numbered)
  return numbered.flatMap((transaction) => {
    const draft = drafts.get(transaction.id)
    if (draft === undefined) return []
    return [
      { transaction, attempts: attempts.get(transaction.id) ?? [], draft, kind: KINDS[transaction.intent] },
    ]
  })
}
