import { randomUUID } from 'node:crypto'
import { createBatcher } from '../batcher.ts'
import type { ChainRequest, Prepared } from '../chains/chain.ts'
import { type AppError, badRequest } from '../errors.ts'
import { inactive, receiverForbidden, shortOfFunds } from '../relayers/policy.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { accountOf, type TransactionsContext } from './context.ts'
import { insertTransactions } from './store.ts'
import type { Transaction } from './transaction.ts'
import { lockAccount, reservedBy } from './work-store.ts'

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
    return { transaction: stored, logs: [...(known?.logs ?? []), ...unknown] }
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
  if (request.validUntil !== undefined && request.validUntil.getTime() <= context.clock.now()) {
    return badRequest(
      'valid_until_in_past',
      `valid_until: a time in the future is expected, not ${request.validUntil.toISOString()}.`,
    )
  }
  const refusal = context.operatorOf(relayer).chain.check(request, accountOf(relayer))
  return refusal && badRequest(refusal.code, refusal.detail)
}

function newTransaction(
  context: TransactionsContext,
  { relayer, request, prepared }: { relayer: Relayer; request: ChainRequest; prepared: Prepared | undefined },
): Transaction {
  const now = new Date(context.clock.now())
  return {
    id: randomUUID(),
    relayerId: relayer.id,
    network: relayer.network,
    from: relayer.address,
    status: 'pending',
    createdAt: now,
    request,
    intent: 'request',
    estimatedGas: request.gasLimit === undefined ? prepared?.draft.gasLimit : undefined,
    version: 1,
    cost: prepared === undefined ? request.value : context.operatorOf(relayer).chain.cost(prepared.draft),
    nextRunAt: now,
  }
}

/**
 * One database transaction for many requests of one relayer. The lock makes the sum of what is reserved true until the
 * commit, so requests that arrive together cannot all count on the same money.
 */
async function storeCandidates(
  { db }: TransactionsContext,
  candidates: readonly Candidate[],
): Promise<(Transaction | AppError)[]> {
  const [first] = candidates
  if (first === undefined) return []
  return db.transaction().execute(async (tx) => {
    await lockAccount(tx, first.relayer.id)
    let reserved = await reservedBy(tx, first.relayer.id)
    const decided = candidates.map(({ relayer, transaction, balance }) => {
      const short =
        balance === undefined
          ? undefined
          : shortOfFunds(relayer, { balance, reserved, cost: transaction.cost })
      if (short === undefined) reserved += transaction.cost
      return short ?? transaction
    })
    const accepted = decided.filter((outcome): outcome is Transaction => !(outcome instanceof Error))
    await insertTransactions(tx, accepted)
    return decided
  })
}
