import { endOfKey } from '../access/api-key.ts'
import { findApiKey } from '../access/api-keys-store.ts'
import {
  type Actor,
  callerName,
  type Rights,
  ROOT_ID,
  seesNetwork,
  seesRelayerId,
} from '../access/principal.ts'
import type { Schemas } from '../contract/operations.ts'
import type { Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError, type ErrorCode, relayerNotFound } from '../errors.ts'
import { networkOf, type Relayer } from '../relayers/relayer.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { isFinal } from '../transactions/model/transitions.ts'
import type { Transactions } from '../transactions/requests/transactions.ts'
import { findTransaction } from '../transactions/store/lookups-store.ts'
import {
  planStep,
  requestAt,
  runKey,
  type Schedule,
  type ScheduleRun,
  type Step,
  timesOf,
} from './schedule.ts'
import {
  findDueSchedules,
  insertRuns,
  insertScheduleEvent,
  lockSchedule,
  updateSchedule,
} from './schedules-store.ts'
import { showNotice } from './show.ts'

/** The most schedules that are read at once, and that are evaluated at the same time. */
const MAX_AT_ONCE = 8

/** Time in ms until a run that could not be decided is tried again. */
export const RETRY_MS = 5_000

/** The longest time in ms for which that is repeated; then the run is refused. */
const MAX_RETRY_MS = 600_000

/** Failures that say nothing about the run (I6): it is decided later. */
const UNDECIDED: ReadonlySet<ErrorCode> = new Set([
  'database_unavailable',
  'in_use',
  'internal_error',
  'network_unavailable',
  'plugin_timeout',
  'plugin_unavailable',
  'price_unavailable',
  'rate_limited',
  'request_timeout',
])

interface ScheduleRunnerDeps {
  readonly context: TransactionsContext
  readonly transactions: Pick<Transactions, 'sendRun'>
}

/** Runs schedules whose time has come. */
export interface ScheduleRunner {
  /**
   * Decides about every time that has come. Several processes may do it at the same time: a run belongs to the
   * one that commits it first. Returns true if some could not be decided and follow in `RETRY_MS`.
   */
  runDue(): Promise<boolean>
}

/** Another process has decided the time, or a caller has changed the schedule. */
class ScheduleMovedError extends Error {
  override readonly name = 'ScheduleMovedError'
}

/** A run that could not be decided. */
interface Undecided {
  readonly at: number
  /** In ms of the monotonic clock. */
  readonly since: number
  readonly retryAt: number
}

/** Creates the runner of this process. */
export function createScheduleRunner({ context, transactions }: ScheduleRunnerDeps): ScheduleRunner {
  const { db, clock, log } = context
  const undecided = new Map<string, Undecided>()

  function isWaiting({ retryAt }: Undecided): boolean {
    return retryAt > clock.monotonic()
  }

  /** Returns false if the run is refused because it could not be decided for too long. */
  function postpone({ id }: Schedule, at: Date): boolean {
    const now = clock.monotonic()
    const before = undecided.get(id)
    const since = before?.at === at.getTime() ? before.since : now
    if (now - since >= MAX_RETRY_MS) return false
    undecided.set(id, { at: at.getTime(), since, retryAt: now + RETRY_MS })
    return true
  }

  /** Returns false if it could not be decided. */
  async function run(schedule: Schedule): Promise<boolean> {
    const now = new Date(clock.now())
    const step = planStep(schedule, timesOf(schedule), now)
    if (step === undefined) return true
    const { at } = step
    if (at === undefined) return record(schedule, step, {})
    const skipped = await findOverlap(context, schedule)
    if (skipped !== undefined) return record(schedule, step, { run: notSent(at, now, { reason: skipped }) })
    const { relayerId } = schedule
    const relayer = await context.relayerOf(relayerId)
    if (relayer === undefined)
      return record(schedule, step, { run: refused(at, now, relayerNotFound(relayerId)) })
    const sender = await findSender(context, schedule, relayer)
    if ('refusal' in sender) {
      const { refusal } = sender
      const pause = `The service paused it: ${refusal.detail} Resume it with an API key that may send.`
      return record(schedule, step, { run: refused(at, now, refusal), pause })
    }
    return send(schedule, step, { relayer, at, actor: sender.actor })
  }

  async function send(
    schedule: Schedule,
    step: Step,
    { relayer, at, actor }: { readonly relayer: Relayer; readonly at: Date; readonly actor: Actor },
  ): Promise<boolean> {
    const { id, lane, reference, description, approvedBy, reasons = [] } = schedule
    const now = new Date(clock.now())
    const request = requestAt(schedule, now)
    const sending = { request, actor, lane, reference, description, idempotencyKey: runKey({ id, at }) }
    let isConcluded = false
    const approved = approvedBy === undefined ? [] : reasons
    try {
      const { transaction } = await transactions.sendRun(relayer, sending, {
        id,
        approved,
        conclude: async (tx, [decision]) => {
          isConcluded = false
          if (decision?.kind === 'admitted') {
            const { id: transactionId, cost } = decision.transaction
            await writeStep(tx, schedule, step, { run: sent(at, now, transactionId), cost })
          } else if (decision?.kind === 'repeated')
            await writeStep(tx, schedule, step, { run: sent(at, now, decision.transactionId) })
          else return
          isConcluded = true
        },
      })
      // The key of the run was found before the admission.
      return isConcluded || record(schedule, step, { run: sent(at, now, transaction.id) })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (UNDECIDED.has(error.code) && postpone(schedule, at)) {
        log.warn({ schedule: id, code: error.code }, 'run of a schedule not decided yet; retrying')
        return false
      }
      return record(schedule, step, { run: refused(at, now, error) })
    }
  }

  /** Decides a time without a transaction. */
  async function record(schedule: Schedule, step: Step, outcome: Outcome): Promise<true> {
    await transact(db, (tx) => writeStep(tx, schedule, step, outcome))
    return true
  }

  async function runSafely(schedule: Schedule): Promise<void> {
    const { id } = schedule
    try {
      if (await run(schedule)) undecided.delete(id)
    } catch (error) {
      if (error instanceof ScheduleMovedError) return
      // One that fails does not hold the others up.
      log.error({ err: error, schedule: id }, 'run of a schedule failed; retrying')
      undecided.set(id, { at: 0, since: 0, retryAt: clock.monotonic() + RETRY_MS })
    }
  }

  return {
    runDue: async () => {
      for (;;) {
        const except = [...undecided].flatMap(([id, one]) => (isWaiting(one) ? [id] : []))
        const now = new Date(clock.now())
        const due = await findDueSchedules(db, { now, limit: MAX_AT_ONCE, except })
        if (due.length === 0) break
        await Promise.all(due.map(runSafely))
      }
      return [...undecided.values()].some(isWaiting)
    },
  }
}

/** The outcome of the times of a step. */
interface Outcome {
  readonly run?: ScheduleRun
  /** The reason to pause the schedule. */
  readonly pause?: string
  /** The most that the run takes from the account. */
  readonly cost?: bigint
}

/**
 * Writes what became of the times of a step, and the next time, in the commit of the transaction if there is
 * one.
 * @throws ScheduleMovedError if another commit decided them, or changed the schedule
 */
async function writeStep(
  tx: Tx,
  schedule: Schedule,
  step: Step,
  { run, pause, cost }: Outcome,
): Promise<void> {
  const present = await lockSchedule(tx, schedule)
  if (
    present?.state !== 'active' ||
    present.version !== schedule.version ||
    present.nextAt?.getTime() !== schedule.nextAt?.getTime()
  )
    throw new ScheduleMovedError(`schedule ${schedule.id} has moved`)
  const isSent = run?.outcome === 'sent'
  const runs = present.runs + (isSent ? 1 : 0)
  const isOver = step.next === undefined || (present.maxRuns !== undefined && runs >= present.maxRuns)
  const state = pause !== undefined ? 'paused' : isOver ? 'completed' : 'active'
  const after: Schedule = {
    ...present,
    state,
    stateReason: pause ?? (isOver ? 'No run is left.' : undefined),
    nextAt: state === 'active' ? step.next : undefined,
    lastAt: step.last,
    runs,
    lastTransactionId: run?.transactionId ?? present.lastTransactionId,
    cost: cost ?? present.cost,
  }
  const missed = step.missed && missedRun(step.missed, schedule, run?.decidedAt ?? new Date(step.last))
  const decided = [missed, run].filter((one) => one !== undefined)
  await updateSchedule(tx, after)
  await insertRuns(tx, present.id, decided)
  const told = isSent ? missed : (run ?? missed)
  const change = changeOf(state, told)
  if (change !== undefined) await insertScheduleEvent(tx, present.relayerId, showNotice(after, change, told))
}

function changeOf(
  state: Schedule['state'],
  told: ScheduleRun | undefined,
): Schemas['SchedulePayload']['change'] | undefined {
  if (state === 'paused' || state === 'completed') return state
  return told === undefined ? undefined : 'run'
}

function sent(at: Date, now: Date, transactionId: string): ScheduleRun {
  return { scheduledAt: at, outcome: 'sent', decidedAt: now, transactionId, times: 1 }
}

function refused(at: Date, now: Date, { code, detail }: AppError): ScheduleRun {
  return { scheduledAt: at, outcome: 'refused', decidedAt: now, code, reason: detail, times: 1 }
}

function notSent(at: Date, now: Date, { reason }: { readonly reason: string }): ScheduleRun {
  return { scheduledAt: at, outcome: 'skipped', decidedAt: now, reason, times: 1 }
}

function missedRun(
  { from, times }: NonNullable<Step['missed']>,
  { missed }: Schedule,
  now: Date,
): ScheduleRun {
  const what = times === 1 ? 'This time was missed' : `These ${times} times were missed`
  const reason = `${what}, because the service did not run it in time; missed is ${missed}.`
  return { scheduledAt: from, outcome: 'skipped', decidedAt: now, reason, times }
}

/** Returns the reason to leave a time out because the transaction of the run before is not final. */
async function findOverlap(
  { db }: TransactionsContext,
  { relayerId, overlap, lastTransactionId }: Schedule,
): Promise<string | undefined> {
  if (overlap === 'allow' || lastTransactionId === undefined) return undefined
  const last = await findTransaction(db, relayerId, lastTransactionId)
  if (last === undefined || isFinal(last.transaction.status)) return undefined
  return `Transaction ${lastTransactionId} of the run before is ${last.transaction.status}; overlap is skip.`
}

/**
 * Finds in whose name a schedule sends, with the rights that this key has now. The database is asked, because
 * a copy may not know yet what has changed.
 */
async function findSender(
  { db, clock }: TransactionsContext,
  { apiKeyId, userId }: Schedule,
  relayer: Relayer,
): Promise<{ readonly actor: Actor } | { readonly refusal: AppError }> {
  if (apiKeyId === ROOT_ID) return { actor: { keyId: apiKeyId, userId } }
  const now = new Date(clock.now())
  const key = await findApiKey(db, apiKeyId, now)
  const name = callerName(apiKeyId)
  if (key === undefined) return { refusal: new AppError('unauthorized', `${name} was deleted.`) }
  const end = endOfKey(key, now.getTime())
  if (end !== undefined) return { refusal: new AppError('unauthorized', `${name} ${ENDED[end]}.`) }
  if (!key.scopes.includes('transactions:write'))
    return { refusal: new AppError('insufficient_scope', `${name} lacks the scope transactions:write.`) }
  if (!sees(key, relayer))
    return { refusal: new AppError('relayer_not_found', `${name} no longer sees relayer ${relayer.id}.`) }
  return { actor: { keyId: apiKeyId, rules: key.rules, userId } }
}

const ENDED = { disabled: 'is disabled', expired: 'has expired' } as const

function sees({ visibility }: Rights, relayer: Relayer): boolean {
  return seesRelayerId(visibility, relayer.id) && seesNetwork(visibility, networkOf(relayer))
}
