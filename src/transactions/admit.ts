import type { Place } from '../chains/chain.ts'
import { AppError } from '../errors.ts'
import { inactive, shortOfFunds } from '../relayers/policy.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { lockRelayer } from '../relayers/store.ts'
import { isForeign, type Operator, type TransactionsContext } from './context.ts'
import { type IdempotencyClaim, otherBody } from './idempotency.ts'
import { findKeys, insertKeys, type KeyRecord } from './idempotency-store.ts'
import { insertTransactions } from './store.ts'
import type { Transaction } from './transaction.ts'
import { findTakenPlaces, lockAccount, reservedBy } from './work-store.ts'

/** A request that passed every check that needs no other request. */
export interface Candidate {
  readonly relayer: Relayer
  readonly transaction: Transaction
  /** On the chain when it was asked; absent when no node answered, and then nodes decide later. */
  readonly balance: bigint | undefined
  readonly claim: IdempotencyClaim | undefined
}

/** What became of a candidate. `repeated`: its claim has made this transaction before. */
export type Decision =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'repeated'; readonly transactionId: string }
  | { readonly kind: 'refused'; readonly error: AppError }

/**
 * One database transaction for many requests of one relayer. The lock makes the sum of what is reserved true until the
 * commit, so requests that arrive together cannot all count on the same money, or take the same place, or use a key twice.
 */
export async function admitCandidates(
  context: TransactionsContext,
  candidates: readonly Candidate[],
): Promise<Decision[]> {
  const [first] = candidates
  if (first === undefined) return []
  const { id } = first.relayer
  return context.db.transaction().execute(async (tx) => {
    // As it is until the commit: it may have been deleted or switched off since the candidate was made.
    const relayer = await lockRelayer(tx, id, 'share')
    if (relayer === undefined) return candidates.map(() => ({ kind: 'refused', error: gone(id) }))
    await lockAccount(tx, id)
    const taken = await findTakenPlaces(tx, id, candidates.flatMap(placeOf))
    const keys = await findKeys(
      tx,
      id,
      candidates.flatMap(({ claim }) => claim?.key ?? []),
    )
    const reserved = await reservedBy(tx, id)
    const operator = context.operatorOf(first.relayer)
    const ground = { closed: inactive(relayer), taken, keys, reserved }
    const decisions = decide(operator, candidates, ground)
    const admitted = candidates.filter((_, index) => decisions[index]?.kind === 'admitted')
    await insertTransactions(
      tx,
      admitted.map(({ transaction }) => transaction),
    )
    await insertKeys(tx, id, admitted.flatMap(keyOf))
    return decisions
  })
}

/** What candidates can collide with; grows with each one that is admitted. */
interface Ground {
  /** Why nothing new is taken at all. */
  readonly closed: AppError | undefined
  /** Each as `line nonce`. */
  readonly taken: Set<string>
  readonly keys: Map<string, KeyRecord>
  readonly reserved: bigint
}

function decide(
  operator: Operator,
  candidates: readonly Candidate[],
  { closed, taken, keys, reserved: before }: Ground,
): Decision[] {
  let reserved = before
  return candidates.map((candidate) => {
    const earlier = candidate.claim && keys.get(candidate.claim.key)
    if (candidate.claim && earlier) return repeat(earlier, candidate.claim)
    const error = closed ?? badPlace(operator, candidate, taken) ?? badFunds(operator, candidate, reserved)
    if (error) return { kind: 'refused', error }
    reserved += candidate.transaction.cost
    for (const { address, nonce } of placeOf(candidate)) taken.add(`${address} ${nonce}`)
    for (const record of keyOf(candidate)) keys.set(record.key, record)
    return { kind: 'admitted' }
  })
}

function gone(id: string): AppError {
  return new AppError('relayer_not_found', `There is no relayer ${id}.`)
}

function repeat(earlier: KeyRecord, claim: IdempotencyClaim): Decision {
  const error = otherBody(earlier, claim)
  return error ? { kind: 'refused', error } : { kind: 'repeated', transactionId: earlier.transactionId }
}

function keyOf({ claim, transaction }: Candidate): KeyRecord[] {
  return claim === undefined ? [] : [{ ...claim, transactionId: transaction.id }]
}

/** Without a balance nobody knows; then nodes decide later. */
function badFunds(
  { chain }: Operator,
  { relayer, transaction, balance }: Candidate,
  reserved: bigint,
): AppError | undefined {
  if (balance === undefined) return undefined
  return shortOfFunds(relayer, { unit: chain.traits.unit, balance, reserved, cost: transaction.cost })
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
    return new AppError(
      'not_supported',
      `transaction_xdr: the sequence numbers of ${place.address} are given by the service. Send the operations, or the transaction unsigned.`,
    )
  }
  if (!taken.has(`${place.address} ${place.nonce}`)) return undefined
  return new AppError(
    'already_accepted',
    `transaction_xdr: sequence number ${place.nonce} of ${place.address} was accepted before; list the transactions to find it.`,
  )
}
