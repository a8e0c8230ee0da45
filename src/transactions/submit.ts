import type { Answer, Refusal } from '../chains/answer.ts'
import type { AttemptKind } from '../chains/attempt.ts'
import type { ErrandFirst, Prepared } from '../chains/chain.ts'
import { affordable, type Ready } from './affordable.ts'
import { broadcastCurrent } from './broadcast.ts'
import { accountOf, type HeldAccount, isForeign, type Operator, type TransactionsContext } from './context.ts'
import { runErrand } from './errand.ts'
import { isNoop } from './noop.ts'
import { numberTransactions } from './number.ts'
import { saveAlone } from './save.ts'
import { freeSeats, type Seats, surveyLines } from './seats.ts'
import { type Signable, signAndStore } from './sign.ts'
import { findAttempts } from './store.ts'
import type { Intent, Transaction } from './transaction.ts'
import { nextStatus } from './transitions.ts'
import { findPending } from './work-store.ts'

/** How long a transaction waits that cannot be prepared now: no node answers, or the money is not there, in ms. */
const WAIT_MS = 2_000

/**
 * Prepares, numbers, signs, stores and broadcasts what is pending, in the order of acceptance and as far as the
 * in-flight limit allows. Every line between two steps may be the last one of this process: what is stored by then is
 * enough to go on (I12).
 */
export async function submitPending(context: TransactionsContext, held: HeldAccount): Promise<void> {
  const { relayer, operator, lease } = held
  const most = Math.max(context.maxInFlight, operator.lines.length)
  const pending = await findPending(context.db, relayer.id, most)
  if (pending.length === 0) return
  const seats = await freeSeats(context, held, pending)
  const fitting = withinLimit(
    pending,
    [...seats.values()].reduce((sum, free) => sum + free, 0),
  )
  const prepared = await prepareInOrder(context, held, dueInOrder(fitting, context.clock.now()))
  if (prepared.length === 0) return
  const { ready, short } = await affordable(context, held, prepared)
  if (short) await wait(context, short.transaction, short.reason)
  if (ready.length === 0) return
  const seated = operator.chain.traits.nonces
    ? await numberReady(context, held, { ready, seats })
    : ready.map((item) => item.transaction)
  const signables = await toSignables(context, operator, { ready, seated })
  const stored = await signAndStore(context, { operator, signables, lease })
  await broadcastCurrent(context, operator, stored)
}

async function numberReady(
  context: TransactionsContext,
  held: HeldAccount,
  { ready, seats }: { ready: readonly Ready[]; seats: Seats },
): Promise<Transaction[]> {
  const { lines, errand, unusable } = await surveyLines(held, seats)
  const [first] = ready
  if (unusable !== undefined && first)
    await wait(context, first.transaction, `Waiting for funds: ${unusable}`)
  if (errand) await runErrand(context, held, errand)
  return numberTransactions(context, {
    relayerId: held.relayer.id,
    transactions: ready.map((item) => item.transaction),
    lines,
    lease: held.lease,
  })
}

/** What has a nonce already has its seat. */
function withinLimit(pending: readonly Transaction[], room: number): Transaction[] {
  const numbered = pending.filter((transaction) => transaction.nonce !== undefined)
  const unnumbered = pending.filter((transaction) => transaction.nonce === undefined)
  return [...numbered, ...unnumbered.slice(0, room)]
}

/** Nobody overtakes: behind one that has to wait, all wait. */
function dueInOrder(pending: readonly Transaction[], now: number): Transaction[] {
  const waiting = pending.findIndex((transaction) => transaction.nextRunAt.getTime() > now)
  return waiting === -1 ? [...pending] : pending.slice(0, waiting)
}

async function wait(
  context: TransactionsContext,
  transaction: Transaction,
  statusReason: string,
): Promise<void> {
  const nextRunAt = new Date(context.clock.now() + WAIT_MS)
  await saveAlone(context, [{ ...transaction, statusReason, nextRunAt }])
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
    if (answer?.kind === 'errand') await runErrand(context, held, answer)
    const settled = unprepared(held, transaction, answer ?? NO_ANSWER, new Date(context.clock.now()))
    changed.push(settled)
    if (settled.status === 'pending' && settled.intent === transaction.intent) break
  }
  if (changed.length > 0) await saveAlone(context, changed)
  return ready
}

function prepareOne(
  { clock }: TransactionsContext,
  { relayer, operator: { chain } }: HeldAccount,
  transaction: Transaction,
): Promise<Answer<Prepared> | ErrandFirst> {
  const account = accountOf(relayer)
  const { request, intent, estimatedGas } = transaction
  if (isNoop(intent)) return chain.prepare(chain.noop(account), account)
  const end = chain.endsAt(request)
  if (end !== undefined && end.getTime() <= clock.now()) {
    return Promise.resolve({ kind: 'refused', refusal: OVERDUE })
  }
  return chain.prepare(request, account, estimatedGas)
}

const OVERDUE: Refusal = { code: 'invalid_request', detail: 'valid_until passed before it was signed.' }

type Unprepared = Exclude<Answer<Prepared> | ErrandFirst, { kind: 'ok' }>

const NO_ANSWER: Unprepared = { kind: 'unknown', detail: 'no answer' }

/**
 * What becomes of a transaction that cannot be prepared. Without a nonce it can end here; with one that others wait for, a
 * no-op has to take the nonce first. Missing money and silent nodes only mean waiting.
 */
function unprepared(
  { operator }: HeldAccount,
  transaction: Transaction,
  answer: Unprepared,
  now: Date,
): Transaction {
  const wait = { nextRunAt: new Date(now.getTime() + WAIT_MS) }
  if (answer.kind === 'errand') return { ...transaction, ...wait, statusReason: `Waiting: ${answer.detail}` }
  if (answer.kind === 'unknown')
    return { ...transaction, ...wait, statusReason: `Waiting: ${answer.detail}.` }
  const { refusal } = answer
  if (refusal.code === 'insufficient_balance' || refusal.code === 'account_not_found') {
    return { ...transaction, ...wait, statusReason: `Waiting for funds: ${refusal.detail}` }
  }
  const overdue = refusal === OVERDUE
  if (transaction.nonce !== undefined && !isForeign(operator, transaction)) {
    const intent: Intent = overdue ? 'expire' : 'abandon'
    return { ...transaction, intent, statusReason: refusal.detail, nextRunAt: now }
  }
  const status = nextStatus(transaction.status, overdue ? 'expired' : 'failed')
  return { ...transaction, line: undefined, nonce: undefined, status, statusReason: refusal.detail, cost: 0n }
}

const KINDS: Readonly<Record<Intent, AttemptKind>> = {
  request: 'send',
  successor: 'replace',
  cancel: 'cancel',
  expire: 'expire',
  abandon: 'abandon',
  filler: 'filler',
  errand: 'errand',
}

async function toSignables(
  { db }: TransactionsContext,
  { chain }: Operator,
  { ready, seated }: { ready: readonly Ready[]; seated: readonly Transaction[] },
): Promise<Signable[]> {
  const drafts = new Map(ready.map((item) => [item.transaction.id, item.prepared.draft]))
  const earlier = await findAttempts(db, seated)
  return seated.flatMap((transaction) => {
    const draft = drafts.get(transaction.id)
    if (draft === undefined) return []
    const attempts = earlier.get(transaction.id) ?? []
    const again = chain.traits.lapses && attempts.length > 0 && transaction.intent === 'request'
    return [{ transaction, attempts, draft, kind: again ? 'renew' : KINDS[transaction.intent] }]
  })
}
