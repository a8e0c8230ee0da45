import type { ExternalNonce } from '../../chains/chain.ts'
import { AppError } from '../../errors.ts'
import { inactive, shortOfFunds } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { lockRelayer } from '../../relayers/store.ts'
import { isExternallySigned, type RelayerRuntime, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { findKeys, insertKeys, type KeyRecord } from '../store/idempotency-store.ts'
import { findUsedExternalNonces, lockAccount } from '../store/nonce-store.ts'
import { insertTransactions } from '../store/transactions-store.ts'
import { reservedBy } from '../store/work-store.ts'
import { type IdempotencyKey, keyReuseError } from './idempotency.ts'

/** A request that passed every check that needs no other request. */
export interface Candidate {
  readonly relayer: Relayer
  readonly transaction: Transaction
  /** On the chain when it was asked; absent when no node answered, and then nodes decide later. */
  readonly balance: bigint | undefined
  readonly idempotencyKey: IdempotencyKey | undefined
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
    if (relayer === undefined) return candidates.map(() => ({ kind: 'refused', error: relayerNotFound(id) }))
    await lockAccount(tx, id)
    const taken = await findUsedExternalNonces(tx, id, candidates.flatMap(externalNonceOf))
    const keys = await findKeys(
      tx,
      id,
      candidates.flatMap(({ idempotencyKey }) => idempotencyKey?.key ?? []),
    )
    const reserved = await reservedBy(tx, id)
    const runtime = context.runtimeOf(first.relayer)
    const admission = { closed: inactive(relayer), taken, keys, reserved }
    const decisions = decide(runtime, candidates, admission)
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
interface AdmissionState {
  /** Why nothing new is taken at all. */
  readonly closed: AppError | undefined
  /** Each as `line nonce`. */
  readonly taken: Set<string>
  readonly keys: Map<string, KeyRecord>
  readonly reserved: bigint
}

function decide(
  runtime: RelayerRuntime,
  candidates: readonly Candidate[],
  { closed, taken, keys, reserved: before }: AdmissionState,
): Decision[] {
  let reserved = before
  return candidates.map((candidate) => {
    const earlier = candidate.idempotencyKey && keys.get(candidate.idempotencyKey.key)
    if (candidate.idempotencyKey && earlier) return repeatOrRefuse(earlier, candidate.idempotencyKey)
    const error =
      closed ?? externalNonceProblem(runtime, candidate, taken) ?? badFunds(runtime, candidate, reserved)
    if (error) return { kind: 'refused', error }
    reserved += candidate.transaction.cost
    for (const { address, nonce } of externalNonceOf(candidate)) taken.add(`${address} ${nonce}`)
    for (const record of keyOf(candidate)) keys.set(record.key, record)
    return { kind: 'admitted' }
  })
}

function relayerNotFound(id: string): AppError {
  return new AppError('relayer_not_found', `There is no relayer ${id}.`)
}

function repeatOrRefuse(earlier: KeyRecord, idempotencyKey: IdempotencyKey): Decision {
  const error = keyReuseError(earlier, idempotencyKey)
  return error ? { kind: 'refused', error } : { kind: 'repeated', transactionId: earlier.transactionId }
}

function keyOf({ idempotencyKey, transaction }: Candidate): KeyRecord[] {
  return idempotencyKey === undefined ? [] : [{ ...idempotencyKey, transactionId: transaction.id }]
}

/** Without a balance nobody knows; then nodes decide later. */
function badFunds(
  { chain }: RelayerRuntime,
  { relayer, transaction, balance }: Candidate,
  reserved: bigint,
): AppError | undefined {
  if (balance === undefined) return undefined
  return shortOfFunds(relayer, { unit: chain.unit, balance, reserved, cost: transaction.cost })
}

function externalNonceOf({ transaction: { sourceAccount, nonce } }: Candidate): ExternalNonce[] {
  return sourceAccount === undefined || nonce === undefined ? [] : [{ address: sourceAccount, nonce }]
}

/** A place that a request brings with it must be nobody's, and no number that the service gives by itself. */
function externalNonceProblem(
  runtime: RelayerRuntime,
  candidate: Candidate,
  taken: ReadonlySet<string>,
): AppError | undefined {
  const [externalNonce] = externalNonceOf(candidate)
  if (externalNonce === undefined) return undefined
  if (!isExternallySigned(runtime, candidate.transaction)) {
    return new AppError(
      'not_supported',
      `transaction_xdr: the sequence numbers of ${externalNonce.address} are given by the service. Send the operations, or the transaction unsigned.`,
    )
  }
  if (!taken.has(`${externalNonce.address} ${externalNonce.nonce}`)) return undefined
  return new AppError(
    'already_accepted',
    `transaction_xdr: sequence number ${externalNonce.nonce} of ${externalNonce.address} was accepted before; list the transactions to find it.`,
  )
}
