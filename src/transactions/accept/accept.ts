import type { Actor } from '../../access/principal.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Tx } from '../../database/db.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import { createBatcher } from '../../lib/concurrency/batcher.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RequestedAfter } from '../model/after.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { findKeys, type UsedKeys } from '../store/idempotency-store.ts'
import { findTransactions } from '../store/lookups-store.ts'
import {
  ACCOUNT_LEAVES,
  type ApprovedReason,
  admitCandidates,
  type Candidate,
  type Decision,
  LANE_MOVED,
} from './admit.ts'
import type { AccountChooser } from './choose-account.ts'
import { type Checked, checkSubmission, type Evaluation, evaluate, refusalOf } from './evaluate.ts'
import { type IdempotencyKey, keyReuseError } from './idempotency.ts'
import { queueProblem } from './queue-limit.ts'

/** A stored transaction, and sentences about it for the caller. */
export interface Accepted extends TransactionWithAttempts {
  readonly logs: readonly string[]
}

/** A request to accept. */
export interface SendItem {
  readonly request: ChainRequest
  /** No two items of a batch have the same key. */
  readonly idempotencyKey?: IdempotencyKey | undefined
  /** The caller's own name for the transaction. */
  readonly reference?: string | undefined
  /** The caller's own text about the transaction. */
  readonly description?: string | undefined
  /** Another transaction that must come first. */
  readonly after?: RequestedAfter | undefined
}

/** The sender of requests, and what it asks for all of them. */
interface Sender {
  readonly actor: Actor
  readonly lane?: string | undefined
  /** The longest wait in the queue that the caller allows, besides the policy. */
  readonly maxQueueSeconds?: number | undefined
}

/** The parts that a request has as the run of a schedule. */
export interface OfSchedule {
  readonly id: string
  /** The reasons that another key has approved once for all runs. */
  readonly approved: readonly ApprovedReason[]
  /** Writes in the commit of the transaction that the run was decided. Its error takes the run back. */
  readonly conclude: (tx: Tx, decisions: readonly Decision[]) => Promise<void>
}

/** Accepts requests for relayers with one account or several. */
export interface Acceptor {
  /**
   * Accepts a request. A repeated idempotency key gives the transaction that the first request with it
   * created.
   * @throws AppError with the rule that the request breaks, or `idempotency_key_reused`; nothing is stored
   * then
   */
  send(relayer: Relayer, sending: Sending): Promise<Accepted>
  /**
   * Accepts all requests of a batch for one account, or none. They are stored in one database transaction in
   * their order, so the budgets and the balance count the items before each one. The results are in the order
   * of the items.
   * @throws AppError with the first item that is refused; nothing is stored then
   */
  sendBatch(relayer: Relayer, batch: Batch): Promise<readonly Accepted[]>
  /**
   * Accepts the run of a schedule as `send` does any request. What `conclude` writes is committed with the
   * transaction.
   * @throws AppError as `send`; the error of `conclude`
   */
  sendRun(relayer: Relayer, sending: Sending, schedule: OfSchedule): Promise<Accepted>
}

/** A request, and its sender. */
export type Sending = SendItem & Sender

/** The requests of a batch, and their sender. */
export type Batch = Sender & { readonly items: readonly SendItem[] }

/**
 * The maximum number of rows in one database transaction. More rows would hold the account's lock for longer
 * than a request may take.
 */
const MAX_ROWS = 200

/** The key of the candidates of all relayers. No relayer has an empty id. */
const ALL = ''

/**
 * Creates the acceptor: it checks, simulates and stores requests with their events and audit entries. When a
 * promise resolves, the rows are committed (I1). A node that does not answer refuses no request (I6): the
 * worker simulates again before it signs.
 */
export function createAcceptor(context: TransactionsContext, chooser: AccountChooser): Acceptor {
  const admitOne = createBatcher<Candidate, Decision>({
    maxItems: MAX_ROWS,
    collectsTurn: true,
    // A server makes a database transaction wait for locks, and the requests of one relayer must not wait for
    // the locks of another.
    keyOf: (candidate) => (context.hasOneSession ? ALL : candidate.relayer.id),
    run: (candidates) => admitCandidates(context, candidates),
  })
  const single: Way = {
    at: (_, error) => error,
    admit: (candidates) => Promise.all(candidates.map(admitOne)),
  }
  const together: Way = {
    at: errorAtItem,
    admit: (candidates) => admitCandidates(context, candidates, { allOrNone: true }),
  }
  return {
    send: async (relayer, sending) =>
      onlyOne(await accept({ context, chooser, ...single }, relayer, batchOf(sending))),
    sendBatch: (relayer, batch) => accept({ context, chooser, ...together }, relayer, batch),
    sendRun: async (relayer, sending, schedule) => {
      const { conclude } = schedule
      const admit: Way['admit'] = (candidates) => admitCandidates(context, candidates, { conclude })
      return onlyOne(
        await accept({ context, chooser, at: single.at, admit, schedule }, relayer, batchOf(sending)),
      )
    },
  }
}

function batchOf({ request, idempotencyKey, reference, description, after, ...sender }: Sending): Batch {
  return { ...sender, items: [{ request, idempotencyKey, reference, description, after }] }
}

function onlyOne([accepted]: readonly Accepted[]): Accepted {
  if (accepted === undefined) throw new Error('an acceptance returned fewer transactions than requests')
  return accepted
}

/** A way to admit requests: each by itself, or all of a batch together. */
interface Way {
  /** Says in an error which item it is about. */
  readonly at: (index: number, error: unknown) => unknown
  readonly admit: (candidates: readonly Candidate[]) => Promise<readonly Decision[]>
}

interface Accepting extends Way {
  readonly context: TransactionsContext
  readonly chooser: AccountChooser
  /** The schedule whose run the only request is. */
  readonly schedule?: OfSchedule | undefined
}

/** An accepted request, or the transaction that an earlier request with its key made. */
type Outcome = Accepted | { readonly earlierId: string }

/** A request that no earlier one repeats, with its place in the batch. */
interface Fresh extends SendItem {
  readonly index: number
}

/**
 * Keys hold for all accounts of a relayer, so they are looked up before one is chosen: a repeated request
 * needs none.
 */
async function accept(accepting: Accepting, relayer: Relayer, batch: Batch): Promise<readonly Accepted[]> {
  const { context, chooser, at } = accepting
  const { items, lane } = batch
  const usedKeys = () =>
    findKeys(
      context.db,
      poolIdOf(relayer.id),
      items.flatMap(({ idempotencyKey }) => idempotencyKey ?? []),
    )
  const used = await usedKeys()
  try {
    const earlier = items.map(({ idempotencyKey }, index) => earlierOf(used, idempotencyKey, at, index))
    const fresh = items.flatMap((item, index) => (earlier[index] === undefined ? [{ ...item, index }] : []))
    const requests = fresh.map(({ request }) => request)
    const admitted =
      fresh.length === 0
        ? new Map<number, Outcome>()
        : await chooser.withAccount(relayer, { lane, requests }, (account) =>
            admitFresh(accepting, account, { ...batch, fresh }),
          )
    const outcomes = earlier.flatMap((one, index) => one ?? admitted.get(index) ?? [])
    return await readOutcomes(context, relayer, outcomes)
  } catch (error) {
    // A concurrent request with the same key may have been accepted in the meantime, and may be the reason
    // for this refusal. Each further round has more used keys, so there are at most as many as there are
    // items.
    if ((await usedKeys()).size === used.size) throw error
    return accept(accepting, relayer, batch)
  }
}

function earlierOf(
  used: UsedKeys,
  idempotencyKey: IdempotencyKey | undefined,
  at: Way['at'],
  index: number,
): Outcome | undefined {
  const record = idempotencyKey && used.get(idempotencyKey)
  if (record === undefined || idempotencyKey === undefined) return undefined
  const error = keyReuseError(record, idempotencyKey)
  if (error) throw at(index, error)
  return { earlierId: record.transactionId }
}

/** Accepts requests for this account. */
async function admitFresh(
  { context, at, admit, schedule }: Accepting,
  relayer: Relayer,
  { fresh, actor, lane, maxQueueSeconds }: Sender & { readonly fresh: readonly Fresh[] },
): Promise<ReadonlyMap<number, Outcome>> {
  const hopeless = await queueProblem(context, relayer, { actor, count: fresh.length, maxQueueSeconds })
  if (hopeless) throw hopeless
  const checked: Checked[] = []
  // One after the other, so that the code of a contract is read once.
  for (const { index, request, idempotencyKey, reference, description, after } of fresh)
    checked.push(
      await locating(at, index, () =>
        checkSubmission(context, {
          relayer,
          request,
          actor,
          idempotencyKey,
          lane,
          reference,
          description,
          after,
          schedule,
        }),
      ),
    )
  for (const [position, { index }] of fresh.entries()) {
    const refusal = checked[position] && refusalOf(checked[position])
    if (refusal) throw at(index, refusal)
  }
  const balance = context.runtimeOf(relayer).chain.recentBalance(relayer.address)
  const evaluations = await Promise.allSettled(checked.map((one) => evaluate(context, one, { balance })))
  const evaluated = fresh.map(({ index }, position) => {
    const result = evaluations[position]
    if (result?.status !== 'fulfilled') throw at(index, result?.reason)
    return { index, ...requireCandidate(result.value, at, index) }
  })
  const decisions = await admitByBalance(context, relayer, evaluated, admit)
  const outcomes = evaluated.map(({ index, logs }, position): [number, Outcome] => {
    const decision = decisions[position]
    if (decision === undefined) throw new Error('an admission returned fewer decisions than candidates')
    if (decision.kind === 'refused') throw at(index, decision.error)
    if (decision.kind === 'repeated') return [index, { earlierId: decision.transactionId }]
    return [index, { transaction: decision.transaction, attempts: [], logs }]
  })
  context.observer?.created(
    outcomes.flatMap(([, outcome]) => ('transaction' in outcome ? [outcome.transaction] : [])),
  )
  return new Map(outcomes)
}

async function locating<T>(at: Way['at'], index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw at(index, error)
  }
}

function requireCandidate(
  { refusal, candidate, logs }: Evaluation,
  at: Way['at'],
  index: number,
): { readonly candidate: Candidate; readonly logs: readonly string[] } {
  if (refusal !== undefined || candidate === undefined) throw at(index, refusal)
  return { candidate, logs }
}

/**
 * Admits candidates by a balance that may be about a block old: what was spent since then is noticed before a
 * transaction is signed, which compares it with the current balance, and then it waits. A caller may have
 * just funded the account, so a refusal is based on the current balance.
 */
async function admitByBalance(
  { runtimeOf }: TransactionsContext,
  relayer: Relayer,
  evaluated: readonly { readonly candidate: Candidate }[],
  admit: Way['admit'],
): Promise<readonly Decision[]> {
  const candidates = evaluated.map(({ candidate }) => candidate)
  const decisions = await admit(candidates)
  const isShort = decisions.some(
    (decision) => decision.kind === 'refused' && decision.error.code === 'insufficient_balance',
  )
  if (!isShort) return decisions
  const present = await runtimeOf(relayer).chain.balance(relayer.address)
  const balance = present.kind === 'ok' ? present.value : undefined
  return admit(candidates.map((candidate) => ({ ...candidate, balance })))
}

/** Reads the earlier transactions as they are now. */
async function readOutcomes(
  { db }: TransactionsContext,
  relayer: Relayer,
  outcomes: readonly Outcome[],
): Promise<readonly Accepted[]> {
  const ids = outcomes.flatMap((outcome) => ('earlierId' in outcome ? [outcome.earlierId] : []))
  const found = ids.length === 0 ? [] : await findTransactions(db, relayer.id, ids)
  const earlier = new Map(found.map((item) => [item.transaction.id, item]))
  return outcomes.map((outcome) => {
    if (!('earlierId' in outcome)) return outcome
    const item = earlier.get(outcome.earlierId)
    if (item === undefined)
      throw new Error(`the key of transaction ${outcome.earlierId} is there and the transaction is not`)
    return { ...item, logs: ['This Idempotency-Key was used before: this is its transaction, as it is now.'] }
  })
}

/** Refusals that are about the relayer, and would be the same for every item. */
const OF_RELAYER: ReadonlySet<ErrorCode> = new Set([
  'relayer_disabled',
  'relayer_not_found',
  'relayer_paused',
])

/** A sentence that begins with the name of a field of the item. */
const BEGINS_WITH_FIELD = /^[a-z][a-z0-9_.[\]]*: /

/** Says in a refusal which item of a batch it is about. Everything else stays as it is. Pure. */
export function errorAtItem(index: number, error: unknown): unknown {
  if (!(error instanceof AppError) || OF_RELAYER.has(error.code)) return error
  if (error === LANE_MOVED || error === ACCOUNT_LEAVES || error.code === 'rate_limited') return error
  const { code, detail, retryAfterSeconds, cause } = error
  const separator = BEGINS_WITH_FIELD.test(detail) ? '.' : ': '
  const options = retryAfterSeconds === undefined ? { cause } : { cause, retryAfterSeconds }
  return new AppError(code, `body.transactions[${index}]${separator}${detail}`, options)
}
