import type { Answer } from '../../chains/answer.ts'
import type { AttemptKind, Prepared, SetupRequired } from '../../chains/attempt.ts'
import type { AppError } from '../../errors.ts'
import { readPoolNonces } from '../../relayers/health/pool-nonces.ts'
import { isSignerFault } from '../../signers/signer.ts'
import { broadcastCurrent } from '../broadcast/broadcast.ts'
import { isNoop } from '../model/attempts.ts'
import { isDue, PRICE_WAIT_MS } from '../model/due.ts'
import { traceStep } from '../model/observer.ts'
import {
  accountOf,
  type LeasedAccount,
  type RelayerRuntime,
  type TransactionsContext,
} from '../model/runtime.ts'
import { afterCause, noopReason } from '../model/status-reasons.ts'
import type { Purpose, Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { measureInFlight } from '../store/due-store.ts'
import { findSubmittable, isOvertaken } from '../store/queue-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { isAbandoned } from '../watch/stuck.ts'
import {
  affordable,
  type MeasuredCapacity,
  measureCapacity,
  measureHeadroom,
  pendingLimit,
  type Ready,
} from './capacity.ts'
import { chargeSuccessors } from './charge-successor.ts'
import { mayBeSignedBefore } from './check-history.ts'
import {
  type FailedPreparation,
  isWait,
  OVERDUE,
  runSetupTransaction,
  storeFailures,
  type Unprepared,
  WAIT_MS,
} from './failed-preparation.ts'
import { findUnexplained, numberAndSign } from './number-and-sign.ts'
import { type Signable, signAndStore } from './sign.ts'

/**
 * Prepares, numbers, signs, stores and broadcasts pending transactions, in the order of acceptance and up to
 * the in-flight limit. The process may crash between any two steps: the stored state is always enough to
 * continue (I12).
 */
export async function submitPending(context: TransactionsContext, leased: LeasedAccount): Promise<void> {
  const { relayer, runtime } = leased
  const now = context.clock.now()
  const at = new Date(now)
  const inFlight = await measureInFlight(context.db, relayer.id)
  const limits = { pending: pendingLimit(context, leased, inFlight), overtaken: MAX_OVERTAKEN }
  const { pending, overtaken } = await findSubmittable(context.db, relayer.id, {
    now: at,
    limits,
    inTurns: relayer.policies.fairShare === true,
  })
  if (pending.length + overtaken.length === 0 || (await isReset(context, leased))) return
  const { slots, reserved } = await measureHeadroom(context, leased, { inFlight, pending })
  const freeSlotCount = [...slots.values()].reduce((sum, free) => sum + free, 0)
  const present = dueBeforeFirstWait(withinLimit(pending, freeSlotCount), now)
  const unnumbered = present.filter(({ nonce }) => nonce === undefined).length
  const { due, others } = await withoutDoubt(context, leased, {
    due: present,
    others: overtaken.slice(0, Math.max(0, freeSlotCount - unnumbered)),
  })
  const wanted = [
    ...due.map((transaction) => (isAbandoned(transaction, now) ? abandoned(transaction) : transaction)),
    ...others,
  ]
  const prepared = await prepareInOrder(context, leased, await chargeSuccessors(context, leased, wanted))
  if (prepared.length === 0) return
  const { sequencing } = runtime.chain
  // Both query the nodes, so they do it in one batch.
  const [{ ready, short }, capacity] = await Promise.all([
    affordable(leased, prepared, reserved),
    sequencing && measureCapacity(context, leased, { slots, sequencing }),
  ])
  if (short) await wait(context, short.transaction, short.reason)
  if (ready.length === 0) return
  try {
    await broadcastCurrent(context, runtime, await signReady(context, leased, { ready, capacity }))
  } catch (error) {
    const [first] = ready
    if (!isSignerFault(error) || first === undefined) throw error
    await waitForSigner(context, leased, { transaction: first.transaction, fault: error })
  }
}

/** Transactions to sign: those that are due, and others that were overtaken. */
interface Chosen {
  readonly due: readonly Transaction[]
  readonly others: readonly Transaction[]
}

/**
 * Returns the transactions that can be signed although the database may have gone back in time: all of them
 * if the records explain what the account has signed on the chain, and none if they do not, which disables
 * the relayer. If no endpoint can say, those that were just accepted, up to the first that may have been
 * signed before; overtaken ones block nothing. On chains with nonces this asks the pools only: the nonces in
 * blocks are read with those to assign. On the others an account that has rested is compared first whatever
 * it sends.
 */
async function withoutDoubt(
  context: TransactionsContext,
  { relayer, runtime: { chain, sourceAccounts } }: LeasedAccount,
  { due, others }: Chosen,
): Promise<Chosen> {
  const isOld = (transaction: Transaction) =>
    mayBeSignedBefore(transaction, { now: context.clock.now(), startedAt: context.startedAt })
  const chosen = [...due, ...others]
  if (!chosen.some(isOld) && (chosen.length === 0 || !context.hasRested(relayer, chain)))
    return { due, others }
  const inPools = await readPoolNonces(chain, relayer, sourceAccounts)
  if ((await findUnexplained(context, relayer, { sourceAccounts: inPools })).length > 0) {
    await context.checkHealth(relayer)
    return { due: [], others: [] }
  }
  if (chain.history === undefined) return { due, others }
  const check = await context.checkHistory(relayer, chain)
  if (check.kind === 'explained') return { due, others }
  if (check.kind === 'unexplained') {
    await context.checkHealth(relayer)
    return { due: [], others: [] }
  }
  const first = due.findIndex(isOld)
  const old = due[first]
  if (old === undefined) return { due, others: [] }
  const detail = `Waiting for the history of the account, which shows whether it was signed before: ${check.detail}.`
  await wait(context, old, detail)
  return { due: due.slice(0, first), others: [] }
}

/** Transactions that can be signed, and the nonces for them; a chain without nonces has no capacity. */
interface Signing {
  readonly ready: readonly Ready[]
  readonly capacity: MeasuredCapacity | undefined
}

async function signReady(
  context: TransactionsContext,
  leased: LeasedAccount,
  { ready, capacity }: Signing,
): Promise<TransactionWithAttempts[]> {
  const { runtime, lease } = leased
  if (capacity) return numberReady(context, leased, { ready, capacity })
  return signAndStore(context, { runtime, signables: await toSignables(context, runtime, ready), lease })
}

/**
 * Nothing was stored and nothing left. A key that is refused disables the relayer now, instead of at the next
 * check of its health.
 */
async function waitForSigner(
  context: TransactionsContext,
  { relayer }: LeasedAccount,
  { transaction, fault }: { readonly transaction: Transaction; readonly fault: AppError },
): Promise<void> {
  context.log.warn(
    { relayer: relayer.id, problem: fault.detail },
    'signature failed; transactions of the relayer wait',
  )
  await wait(context, transaction, `Waiting for its key: ${fault.detail}`)
  if (fault.code === 'signer_refused') await context.checkHealth(relayer)
}

async function numberReady(
  context: TransactionsContext,
  leased: LeasedAccount,
  { ready, capacity }: { readonly ready: readonly Ready[]; readonly capacity: MeasuredCapacity },
): Promise<TransactionWithAttempts[]> {
  const { relayer, runtime, lease } = leased
  const { sourceAccounts, setup, unusable } = capacity
  const [first] = ready
  if (unusable !== undefined && first)
    await wait(context, first.transaction, `Waiting for funds: ${unusable}`)
  if (setup) await runSetupTransaction(context, leased, setup)
  const signables = await toSignables(context, runtime, ready)
  return numberAndSign(context, { relayer, runtime, signables, sourceAccounts, lease })
}

/** The nonce is assigned and the content cannot be signed, so a no-op uses the nonce. */
function abandoned(transaction: Transaction): Transaction {
  return { ...transaction, purpose: 'abandon', statusReason: noopReason('blocking') }
}

/** The maximum number of overtaken transactions that one step tries again. */
const MAX_OVERTAKEN = 4

/** A transaction with a nonce already has its slot. */
function withinLimit(pending: readonly Transaction[], freeSlotCount: number): Transaction[] {
  const numbered = pending.filter((transaction) => transaction.nonce !== undefined)
  const unnumbered = pending.filter((transaction) => transaction.nonce === undefined)
  return [...numbered, ...unnumbered.slice(0, freeSlotCount)]
}

/** Keeps the order: all transactions behind one that waits wait as well. */
function dueBeforeFirstWait(pending: readonly Transaction[], now: number): Transaction[] {
  const waiting = pending.findIndex((transaction) => !isDue(transaction, now))
  return waiting === -1 ? [...pending] : pending.slice(0, waiting)
}

async function wait(context: TransactionsContext, transaction: Transaction, detail: string): Promise<void> {
  const statusReason = afterCause(transaction, detail)
  const nextRunAt = new Date(context.clock.now() + WAIT_MS)
  await saveInOwnTransaction(context, [{ ...transaction, statusReason, nextRunAt }])
}

async function prepareInOrder(
  context: TransactionsContext,
  leased: LeasedAccount,
  transactions: readonly Transaction[],
): Promise<Ready[]> {
  const answers = await prepareAll(context, leased, transactions)
  const ready: Ready[] = []
  const failed: FailedPreparation[] = []
  const tooCheap: Transaction[] = []
  for (const [index, transaction] of transactions.entries()) {
    const answer = answers[index] ?? NO_ANSWER
    if (answer.kind === 'ok') {
      // With a nonce it holds up the others, so it is signed at any price.
      if (answer.value.awaitsPrice === undefined || transaction.nonce !== undefined)
        ready.push({ transaction: { ...transaction, awaitsPrice: undefined }, prepared: answer.value })
      else tooCheap.push(awaitingPrice(transaction, answer.value.awaitsPrice, context.clock.now()))
      continue
    }
    if (answer.kind === 'setup') await runSetupTransaction(context, leased, answer)
    failed.push({ transaction, answer })
    if (isWait({ transaction, answer }) && !isOvertaken(transaction)) break
  }
  if (failed.length > 0) await storeFailures(context, leased, failed)
  if (tooCheap.length > 0) await saveInOwnTransaction(context, tooCheap)
  return ready
}

/** Others overtake it until the market comes down to its price. */
function awaitingPrice(transaction: Transaction, statusReason: string, now: number): Transaction {
  return { ...transaction, awaitsPrice: true, statusReason, nextRunAt: new Date(now + PRICE_WAIT_MS) }
}

/**
 * If the first transaction has waited before, it is prepared alone: if it must wait again, the others wait as
 * well, and cost no calls.
 */
async function prepareAll(
  context: TransactionsContext,
  leased: LeasedAccount,
  transactions: readonly Transaction[],
): Promise<(Answer<Prepared> | SetupRequired)[]> {
  const [first, ...others] = transactions
  if (first === undefined) return []
  const preparing = prepareOne(context, leased, first)
  if (first.nextRunAt > first.createdAt) {
    const answer = await preparing
    if (answer.kind !== 'ok' && isWait({ transaction: first, answer })) return [answer]
  }
  return Promise.all([preparing, ...others.map((transaction) => prepareOne(context, leased, transaction))])
}

function prepareOne(
  context: TransactionsContext,
  leased: LeasedAccount,
  transaction: Transaction,
): Promise<Answer<Prepared> | SetupRequired> {
  const step = { name: 'prepare', transactions: [transaction] } as const
  return traceStep(context, step, () => prepareContent(context, leased, transaction))
}

function prepareContent(
  { clock }: TransactionsContext,
  { relayer, runtime: { chain } }: LeasedAccount,
  transaction: Transaction,
): Promise<Answer<Prepared> | SetupRequired> {
  const account = accountOf(relayer)
  const { request, purpose, estimatedGas } = transaction
  if (isNoop(purpose)) return chain.prepare(chain.noop(account), account)
  const end = chain.endsAt(request)
  if (end !== undefined && end.getTime() <= clock.now()) {
    return Promise.resolve({ kind: 'refused', refusal: OVERDUE })
  }
  return chain.prepare(request, account, isRecent(transaction, clock.now()) ? estimatedGas : undefined)
}

/**
 * The maximum age in ms of a gas estimate that is signed. The gas of a call changes with the state, and on
 * rollups with the price of L1 data; the margin of an estimate covers minutes, not hours in a queue. A
 * shorter time simulates twice what is signed immediately.
 */
const ESTIMATE_MAX_AGE_MS = 120_000

/** The estimate is at most as old as the request: it was made at acceptance, or later at a replacement. */
function isRecent({ createdAt }: Transaction, now: number): boolean {
  return now - createdAt.getTime() < ESTIMATE_MAX_AGE_MS
}

const NO_ANSWER: Unprepared = { kind: 'unknown', detail: 'no answer' }

const KINDS: Readonly<Record<Purpose, AttemptKind>> = {
  request: 'send',
  successor: 'replace',
  cancel: 'cancel',
  expire: 'expire',
  abandon: 'abandon',
  gap_filler: 'gap_filler',
  setup: 'setup',
}

/**
 * The row has not been written since its acceptance, so it has no attempt: an attempt is stored with a new
 * version of its transaction.
 */
function isUntouched({ version }: Transaction): boolean {
  return version === 1
}

async function toSignables(
  { db }: TransactionsContext,
  { chain }: RelayerRuntime,
  ready: readonly Ready[],
): Promise<Signable[]> {
  const earlier = await findAttempts(
    db,
    ready.flatMap(({ transaction }) => (isUntouched(transaction) ? [] : [transaction])),
  )
  return ready.map(({ transaction, prepared: { draft } }) => {
    const attempts = earlier.get(transaction.id) ?? []
    const again = chain.expiry !== undefined && attempts.length > 0 && transaction.purpose === 'request'
    return { transaction, attempts, draft, kind: again ? 're_sign' : KINDS[transaction.purpose] }
  })
}

/** Returns true if the chain was reset. The relayer is disabled then, so that callers learn the reason. */
export async function isReset(
  context: TransactionsContext,
  { relayer, runtime }: LeasedAccount,
): Promise<boolean> {
  if ((await context.findChainReset(runtime)) === undefined) return false
  if (!relayer.systemDisabled) await context.checkHealth(relayer)
  return true
}
