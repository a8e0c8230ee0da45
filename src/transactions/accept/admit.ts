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
  /** The balance on the chain. When no node answered, it is absent and the nodes decide at the broadcast. */
  readonly balance: bigint | undefined
  readonly idempotencyKey: IdempotencyKey | undefined
}

/** The result for a candidate. `repeated`: an earlier request with the same idempotency key created this transaction. */
export type Decision =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'repeated'; readonly transactionId: string }
  | { readonly kind: 'refused'; readonly error: AppError }

/**
 * Admits many requests of one relayer in one database transaction. The lock keeps the reserved sum true until the commit, so concurrent
 * requests cannot spend the same money, use the same nonce, or use an idempotency key twice.
 */
export async function admitCandidates(
  context: TransactionsContext,
  candidates: readonly Candidate[],
): Promise<Decision[]> {
  const [first] = candidates
  if (first === undefined) return []
  const { id } = first.relayer
  return context.db.transaction().execute(async (tx) => {
    // Read again under the lock: the relayer may have been deleted or disabled since the candidate was created.
    const relayer = await lockRelayer(tx, id, 'share')
    if (relayer === undefined) return candidates.map(() => ({ kind: 'refused', error: relayerNotFound(id) }))
    await lockAccount(tx, id)
    const usedNonces = await findUsedExternalNonces(tx, id, candidates.flatMap(externalNonceOf))
    const keys = await findKeys(
      tx,
      id,
      candidates.flatMap(({ idempotencyKey }) => idempotencyKey?.key ?? []),
    )
    const reserved = await reservedBy(tx, id)
    const runtime = context.runtimeOf(first.relayer)
    const admission = { refusal: inactive(relayer), usedNonces, keys, reserved }
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

/** Everything that a candidate can conflict with. Each admitted candidate adds to it. */
interface AdmissionState {
  /** The reason why the relayer accepts nothing; undefined when it accepts. */
  readonly refusal: AppError | undefined
  /** Each entry is `address nonce`. */
  readonly usedNonces: Set<string>
  readonly keys: Map<string, KeyRecord>
  readonly reserved: bigint
}

function decide(
  runtime: RelayerRuntime,
  candidates: readonly Candidate[],
  { refusal, usedNonces, keys, reserved: before }: AdmissionState,
): Decision[] {
  let reserved = before
  return candidates.map((candidate) => {
    const earlier = candidate.idempotencyKey && keys.get(candidate.idempotencyKey.key)
    if (candidate.idempotencyKey && earlier) return repeatOrRefuse(earlier, candidate.idempotencyKey)
    const error =
      refusal ??
      externalNonceProblem(runtime, candidate, usedNonces) ??
      insufficientFunds(runtime, candidate, reserved)
    if (error) return { kind: 'refused', error }
    reserved += candidate.transaction.cost
    for (const { address, nonce } of externalNonceOf(candidate)) usedNonces.add(`${address} ${nonce}`)
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

/** Without a known balance there is no refusal: the nodes decide at the broadcast (I6). */
function insufficientFunds(
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

/** The nonce of pre-signed content must be unused, and must not belong to an account whose nonces this service assigns. */
function externalNonceProblem(
  runtime: RelayerRuntime,
  candidate: Candidate,
  usedNonces: ReadonlySet<string>,
): AppError | undefined {
  const [externalNonce] = externalNonceOf(candidate)
  if (externalNonce === undefined) return undefined
  if (!isExternallySigned(runtime, candidate.transaction)) {
    return new AppError(
      'not_supported',
      `transaction_xdr: the sequence numbers of ${externalNonce.address} are given by the service. Send the operations, or the transaction unsigned.`,
    )
  }
  if (!usedNonces.has(`${externalNonce.address} ${externalNonce.nonce}`)) return undefined
  return new AppError(
    'already_accepted',
    `transaction_xdr: sequence number ${externalNonce.nonce} of ${externalNonce.address} was accepted before; list the transactions to find it.`,
  )
}
