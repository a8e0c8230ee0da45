import type { Actor } from '../../access/principal.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { findKeys, type UsedKeys } from '../store/idempotency-store.ts'
import { findTransactions } from '../store/lookups-store.ts'
import { type Accepted, checkStatic, prepareCandidate, repeated, type Submission } from './accept.ts'
import { ACCOUNT_LEAVES, admitCandidates, LANE_MOVED } from './admit.ts'
import { withEncodedArgs } from './checks.ts'
import type { AccountChooser } from './choose-account.ts'
import { type IdempotencyKey, keyReuseError } from './idempotency.ts'
import { refuseHopeless } from './queue-limit.ts'

/** A request of a batch. */
export interface BatchItem {
  readonly request: ChainRequest
  /** No two items of a batch have the same key. */
  readonly idempotencyKey: IdempotencyKey | undefined
}

/** The requests of a batch, in the order of acceptance, and their sender. */
interface Batch {
  readonly items: readonly BatchItem[]
  readonly actor: Actor
  /** All of them are in this lane. */
  readonly lane?: string | undefined
}

/** Accepts all requests of a batch or none. The results are in the order of the items. */
export type BatchAcceptor = (relayer: Relayer, batch: Batch) => Promise<readonly Accepted[]>

/** A request with its place in the batch. */
interface Indexed {
  readonly index: number
  readonly submission: Submission
}

/** An accepted request, or the transaction that an earlier request with its key made. */
type Outcome = Accepted | { readonly earlierId: string }

/**
 * Accepts batches, each for one account of the relayer. All requests of a batch are stored in one database transaction, with their events and audit entries, in their order, so
 * the budgets and the balance count the items before each one. An item whose key was used before gives its earlier transaction.
 * @throws AppError with the first item that is refused; nothing is stored then
 */
export function createBatchAcceptor(context: TransactionsContext, chooser: AccountChooser): BatchAcceptor {
  return async (relayer, { items, actor, lane }) => {
    const acceptWith = (account: Relayer) =>
      acceptBatch(
        context,
        account,
        items.map((item, index) => ({ index, submission: { relayer: account, actor, lane, ...item } })),
      )
    if (relayer.accounts === undefined) return acceptWith(relayer)
    const keys = items.flatMap(({ idempotencyKey }) => idempotencyKey ?? [])
    // A repeated batch needs no account, so it gets its transactions even if none accepts new work.
    const isRepeated =
      keys.length === items.length && (await findKeys(context.db, relayer.id, keys)).size === keys.length
    if (isRepeated) return acceptWith(relayer)
    return chooser.withAccount(relayer, { lane, requests: items.map(({ request }) => request) }, acceptWith)
  }
}

async function acceptBatch(
  context: TransactionsContext,
  relayer: Relayer,
  indexed: readonly Indexed[],
): Promise<readonly Accepted[]> {
  const usedKeys = () => findKeys(context.db, relayer.id, indexed.flatMap(keyOf))
  const earlier = await usedKeys()
  try {
    return await acceptAfter(context, relayer, { indexed, earlier })
  } catch (error) {
    // A concurrent batch with the same keys may have been accepted in the meantime, and may be the reason for this refusal. Each further
    // round has more used keys, so there are at most as many as there are items.
    if ((await usedKeys()).size === earlier.size) throw error
    return acceptBatch(context, relayer, indexed)
  }
}

interface Round {
  readonly indexed: readonly Indexed[]
  readonly earlier: UsedKeys
}

async function acceptAfter(
  context: TransactionsContext,
  relayer: Relayer,
  { indexed, earlier }: Round,
): Promise<readonly Accepted[]> {
  const outcomes = new Map<number, Outcome>()
  for (const { index, submission } of indexed) {
    const record = submission.idempotencyKey && earlier.get(submission.idempotencyKey)
    if (record === undefined || submission.idempotencyKey === undefined) continue
    refuseAt(index, keyReuseError(record, submission.idempotencyKey))
    outcomes.set(index, { earlierId: record.transactionId })
  }
  const fresh = indexed.filter(({ index }) => !outcomes.has(index))
  for (const [index, outcome] of await admitFresh(context, relayer, fresh)) outcomes.set(index, outcome)
  return readOutcomes(
    context,
    relayer,
    indexed.flatMap(({ index }) => outcomes.get(index) ?? []),
  )
}

async function admitFresh(
  context: TransactionsContext,
  relayer: Relayer,
  sent: readonly Indexed[],
): Promise<[number, Outcome][]> {
  const [first] = sent
  if (first === undefined) return []
  await refuseHopeless(context, relayer, { actor: first.submission.actor, count: sent.length })
  const fresh = await encodeAll(context, relayer, sent)
  for (const { index, submission } of fresh) refuseAt(index, checkStatic(context, submission))
  const prepared = await prepareAll(context, relayer, fresh)
  const candidates = prepared.map(({ candidate }) => candidate)
  const decisions = await admitCandidates(context, candidates, { allOrNone: true })
  const outcomes = prepared.map(({ index, logs }, position): [number, Outcome] => {
    const decision = decisions[position]
    if (decision === undefined) throw new Error('an admission returned fewer decisions than candidates')
    if (decision.kind === 'refused') throw errorAtItem(index, decision.error)
    if (decision.kind === 'repeated') return [index, { earlierId: decision.transactionId }]
    return [index, { transaction: decision.transaction, attempts: [], logs }]
  })
  context.observer?.created(
    outcomes.flatMap(([, outcome]) => ('transaction' in outcome ? [outcome.transaction] : [])),
  )
  return outcomes
}

/** Encodes the named arguments of one item after the other, so that a contract's code is read once. */
async function encodeAll(
  context: TransactionsContext,
  relayer: Relayer,
  sent: readonly Indexed[],
): Promise<Indexed[]> {
  const { chain } = context.runtimeOf(relayer)
  const encoded: Indexed[] = []
  for (const { index, submission } of sent) {
    try {
      const request = await withEncodedArgs(chain, submission.request)
      encoded.push({ index, submission: { ...submission, request } })
    } catch (error) {
      throw errorAtItem(index, error)
    }
  }
  return encoded
}

/** Prepares all items at the same time, and throws the first refusal in their order. */
async function prepareAll(context: TransactionsContext, relayer: Relayer, fresh: readonly Indexed[]) {
  const balance = context.runtimeOf(relayer).chain.balance(relayer.address)
  const results = await Promise.allSettled(
    fresh.map(({ submission }) => prepareCandidate(context, submission, balance)),
  )
  return fresh.map(({ index }, position) => {
    const result = results[position]
    if (result?.status !== 'fulfilled') throw errorAtItem(index, result?.reason)
    return { index, ...result.value }
  })
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
    return repeated(item)
  })
}

function keyOf({ submission: { idempotencyKey } }: Indexed): IdempotencyKey[] {
  return idempotencyKey === undefined ? [] : [idempotencyKey]
}

function refuseAt(index: number, refusal: Error | undefined): void {
  if (refusal !== undefined) throw errorAtItem(index, refusal)
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
