import { randomUUID } from 'node:crypto'
import { createBatcher } from '../batcher.ts'
import type { ChainRequest, Place, Prepared } from '../chains/chain.ts'
import { type AppError, badRequest } from '../errors.ts'
import { inactive, receiverForbidden, shortOfFunds } from '../relayers/policy.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { accountOf, isForeign, type Operator, type TransactionsContext } from './context.ts'
import { insertTransactions } from './store.ts'
import type { Transaction } from './transaction.ts'
import { findTakenPlaces, lockAccount, reservedBy } from './work-store.ts'

/** A stored transaction and what the caller should know about it. */
export interface Accepted {
  readonly transaction: Transaction
  readonly logs: readonly string[]
}

interface Candidate {
  readonly relayer: Relayer
  readonly transaction: Transaction
  /** On the chain when it was asked; absent when no node answered, and then nodes decide later. */
  readonly balance: bigint | undefined
}

/** Rows stored in one database transaction at most. More would hold the account's lock for longer than a request waits. */
const MAX_ROWS = 200

/**
 * Accepts requests: checks, simulates, and stores them with their event. When this resolves, the row is committed (I1).
 * A node that does not answer stops nobody (I6): the worker asks again before it signs.
 * @throws AppError 400 with the reason why the request cannot be executed; nothing is stored then
 */
export function createAcceptor(
  context: TransactionsContext,
): (relayer: Relayer, request: ChainRequest) => Promise<Accepted> {
  const store = createBatcher<Candidate, Transaction | AppError>({
    maxItems: MAX_ROWS,
    collectsTurn: true,
    keyOf: (candidate) => candidate.relayer.id,
    run: (candidates) => storeCandidates(context, candidates),
  })
  return async (relayer, request) => {
    const refusal = checkStatic(context, relayer, request)
    if (refusal) throw refusal
    const { chain } = context.operatorOf(relayer)
    const [prepared, balance] = await Promise.all([
      chain.prepare(request, accountOf(relayer)),
      chain.balance(relayer.address),
    ])
    if (prepared.kind === 'refused') throw badRequest(prepared.refusal.code, prepared.refusal.detail)
    const known = prepared.kind === 'ok' ? prepared.value : undefined
    const transaction = newTransaction(context, { relayer, request, prepared: known })
    const stored = await store({
      relayer,
      transaction,
      balance: balance.kind === 'ok' ? balance.value : undefined,
    })
    if (stored instanceof Error) throw stored
    const unknown =
      prepared.kind === 'unknown'
        ? [`Not simulated yet: ${prepared.detail}. It is asked again before signing.`]
        : []
    const errand = prepared.kind === 'errand' ? [`${prepared.detail} The service does that first.`] : []
    return { transaction: stored, logs: [...(known?.logs ?? []), ...unknown, ...errand] }
  }
}

/** What can be said without a network; the same for a new request and for a replacement. */
export function checkStatic(
  context: TransactionsContext,
  relayer: Relayer,
  request: ChainRequest,
): AppError | undefined {
  const refused = inactive(relayer) ?? receiverForbidden(relayer, request)
  if (refused) return refused
  const { chain } = context.operatorOf(relayer)
  const refusal = chain.check(request, accountOf(relayer))
  if (refusal) return badRequest(refusal.code, refusal.detail)
  const end = chain.endsAt(request)
  if (end === undefined || end.getTime() > context.clock.now()) return undefined
  return badRequest(
    'valid_until_in_past',
    `valid_until: a time in the future is expected, not ${end.toISOString()}.`,
  )
}

function newTransaction(
  context: TransactionsContext,
  { relayer, request, prepared }: { relayer: Relayer; request: ChainRequest; prepared: Prepared | undefined },
): Transaction {
  const now = new Date(context.clock.now())
  const { chain } = context.operatorOf(relayer)
  const place = chain.place(request)
  return {
    id: randomUUID(),
    relayerId: relayer.id,
    network: relayer.network,
    from: relayer.address,
    status: 'pending',
    createdAt: now,
    request,
    intent: 'request',
    estimatedGas: prepared?.knownGas,
    line: place?.address,
    nonce: place?.nonce,
    version: 1,
    cost: prepared === undefined ? chain.outlay(request) : chain.cost(prepared.draft),
    nextRunAt: now,
  }
}

/**
 * One database transaction for many requests of one relayer. The lock makes the sum of what is reserved true until the
 * commit, so requests that arrive together cannot all count on the same money, or take the same place.
 */
async function storeCandidates(
  context: TransactionsContext,
  candidates: readonly Candidate[],
): Promise<(Transaction | AppError)[]> {
  const [first] = candidates
  if (first === undefined) return []
  const operator = context.operatorOf(first.relayer)
  return context.db.transaction().execute(async (tx) => {
    await lockAccount(tx, first.relayer.id)
    const taken = await findTakenPlaces(tx, first.relayer.id, candidates.flatMap(placeOf))
    let reserved = await reservedBy(tx, first.relayer.id)
    const decided = candidates.map((candidate) => {
      const { relayer, transaction, balance } = candidate
      const refusal =
        badPlace(operator, candidate, taken) ??
        (balance === undefined
          ? undefined
          : shortOfFunds(relayer, {
              unit: operator.chain.traits.unit,
              balance,
              reserved,
              cost: transaction.cost,
            }))
      if (refusal !== undefined) return refusal
      reserved += transaction.cost
      for (const { address, nonce } of placeOf(candidate)) taken.add(`${address} ${nonce}`)
      return transaction
    })
    const accepted = decided.filter((outcome): outcome is Transaction => !(outcome instanceof Error))
    await insertTransactions(tx, accepted)
    return decided
  })
}

function placeOf({ transaction: { line, nonce } }: Candidate): Place[] {
  return line === undefined || nonce === undefined ? [] : [{ address: line, nonce }]
}

/** A place that a request brings with it must be nobody's, and no number that the service gives by itself. */
function badPlace(
  operator: Operator,
  candidate: Candidate,
  taken: ReadonlySet<string>,
): AppError | undefined {
  const [place] = placeOf(candidate)
  if (place === undefined) return undefined
  if (!isForeign(operator, candidate.transaction)) {
    return badRequest(
      'not_supported',
      `transaction_xdr: the sequence numbers of ${place.address} are given by the service. Send the operations, or the transaction unsigned.`,
    )
  }
  if (!taken.has(`${place.address} ${place.nonce}`)) return undefined
  return badRequest(
    'already_accepted',
    `transaction_xdr: sequence number ${place.nonce} of ${place.address} was accepted before; list the transactions to find it.`,
  )
}
