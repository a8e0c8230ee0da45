import type { Attempt, AttemptKind, Draft } from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Tx } from '../../database/db.ts'
import { assertFence, type Lease } from '../../database/lease.ts'
import { transact } from '../../database/locks/transact.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { raiseKnownNonce } from '../../relayers/store.ts'
import type { Purchase } from '../../spending/ledger.ts'
import { chargeSigned } from '../budgets/charge-signed.ts'
import { openAttempts, reservation } from '../model/attempts.ts'
import { traceStep } from '../model/observer.ts'
import { type RelayerRuntime, signingContextOf, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findHashOwners, insertAttempts } from '../store/attempts-store.ts'
import { lockAccount } from '../store/nonce-store.ts'
import { saveInOwnTransaction, saveTransactions } from '../store/transactions-store.ts'

/**
 * Time in ms until another process broadcasts the signed bytes. The process that signs them broadcasts
 * immediately; this covers a crash in the meantime. A shorter time makes two processes broadcast the same
 * bytes, which is harmless but useless.
 */
const REBROADCAST_MS = 1_000

/** A transaction, and the content to sign for it. */
export interface Signable {
  readonly transaction: Transaction
  readonly attempts: readonly Attempt[]
  readonly draft: Draft
  readonly kind: AttemptKind
}

/**
 * Signs the content with the source account and nonce of the transaction. Nothing is stored, and nothing
 * leaves the process.
 */
export async function signAttempt(
  context: TransactionsContext,
  runtime: RelayerRuntime,
  { transaction, attempts, draft, kind }: Signable,
): Promise<Attempt> {
  const { nonce, sourceAccount = transaction.from } = transaction
  if (nonce === undefined && runtime.chain.sequencing)
    throw new Error(`transaction ${transaction.id} has no nonce to sign with`)
  const step = { name: 'sign', transactions: [transaction] } as const
  const signed = await traceStep(context, step, () =>
    runtime.chain.sign(draft, signingContextOf(runtime, sourceAccount, nonce)),
  )
  const number = (attempts.at(-1)?.number ?? 0) + 1
  const signedAt = new Date(context.clock.now())
  return omitUndefined({
    number,
    kind,
    sourceAccount,
    nonce,
    draft,
    signed,
    signedAt,
    outcome: 'signed' as const,
  })
}

/**
 * Signs, then stores bytes, hash and status in one database transaction (I3). Returns the transactions that
 * may be broadcast now. Signing is deterministic, so the same content at the same price yields the same
 * bytes: then the existing attempt becomes the current one again.
 */
export async function signAndStore(
  context: TransactionsContext,
  { runtime, signables, lease }: { runtime: RelayerRuntime; signables: readonly Signable[]; lease?: Lease },
): Promise<TransactionWithAttempts[]> {
  const signed = await signAll(context, runtime, signables)
  const own = await withoutDuplicates(context, runtime, signed)
  return storeSigned(context, { runtime, signed: own, ...(lease ? { lease } : {}) })
}

/**
 * Signs the content of several transactions. Content whose bytes are those of an earlier attempt yields that
 * attempt, and none if it has expired: signing again a moment later yields a new expiry, and therefore new
 * bytes.
 */
export async function signAll(
  context: TransactionsContext,
  runtime: RelayerRuntime,
  signables: readonly Signable[],
): Promise<SignedItem[]> {
  const signing = signables.map(async (signable) => {
    const attempt = await signAttempt(context, runtime, signable)
    return { ...signable, attempt: sameBytes(signable.attempts, attempt) ?? attempt }
  })
  const signed = await Promise.all(signing)
  return signed.filter(({ attempt }) => attempt.outcome !== 'expired')
}

/** Finds the attempt that has the same bytes as `attempt`. */
export function sameBytes(attempts: readonly Attempt[], attempt: Attempt): Attempt | undefined {
  return attempts.find((other) => other.signed.hash === attempt.signed.hash)
}

/** Content with its signed bytes, which may be those of an earlier attempt. */
export interface SignedItem extends Signable {
  readonly attempt: Attempt
}

/**
 * Stores signed attempts of the requests that are stored. An attempt whose transaction has since changed is
 * not stored, so its bytes never leave the process (I3).
 */
export async function storeSigned(
  context: TransactionsContext,
  { runtime, signed, lease }: { runtime: RelayerRuntime; signed: readonly SignedItem[]; lease?: Lease },
): Promise<TransactionWithAttempts[]> {
  if (signed.length === 0) return []
  const now = new Date(context.clock.now())
  return traceStep(
    context,
    { name: 'store', transactions: signed.map(({ transaction }) => transaction) },
    () =>
      transact(context.db, async (tx) => {
        if (lease) await assertFence(tx, lease)
        return storeSignedIn(tx, { runtime, signed, now, keepsRequest: true })
      }),
  )
}

interface SignedItems {
  readonly runtime: RelayerRuntime
  readonly signed: readonly SignedItem[]
  readonly now: Date
  /** New content of the transaction. Then the budgets are checked. */
  readonly purchase?: Purchase | undefined
  /** The relayer of an automatic raise. Then the budgets are checked. */
  readonly raisedBy?: Relayer
  /** As in `saveTransactions`. */
  readonly keepsRequest?: boolean
}

/**
 * Like `storeSigned`, in a database transaction of the caller.
 * @throws AppError `rule_violated` for new content, or a raise of the service, beyond a budget
 */
export async function storeSignedIn(
  tx: Tx,
  { runtime, signed, now, purchase, raisedBy, keepsRequest = false }: SignedItems,
): Promise<TransactionWithAttempts[]> {
  const items = new Map(signed.map((item) => [item.transaction.id, item]))
  const { chain, account } = runtime
  const nextNonceOf = (request: ChainRequest) => chain.sequencing?.nextNonce?.(request, account.address)
  const [first] = signed.filter(({ transaction }) => nextNonceOf(transaction.request) !== undefined)
  if (first !== undefined) await lockAccount(tx, first.transaction.relayerId)
  const saved = await saveTransactions(
    tx,
    signed.map((item) => asSent(item, runtime)),
    { keepsRequest },
  )
  const stored = saved.flatMap((transaction) => {
    const item = items.get(transaction.id)
    if (item === undefined) return []
    const { attempt, attempts } = item
    const fresh = !attempts.includes(attempt)
    return [{ transaction, attempt, fresh, attempts: fresh ? [...attempts, attempt] : attempts }]
  })
  const fresh = stored.filter((entry) => entry.fresh)
  if (fresh.length > 0) {
    await insertAttempts(
      tx,
      fresh.map(({ transaction, attempt }) => ({ transactionId: transaction.id, attempt })),
    )
  }
  for (const { transaction } of fresh) {
    const { relayerId, request } = transaction
    const nonce = nextNonceOf(request)
    if (nonce !== undefined) await raiseKnownNonce(tx, { relayerId, address: account.address, nonce })
  }
  await chargeSigned(tx, runtime, { signed: stored, now, purchase, raisedBy })
  return stored.map(({ transaction, attempts }) => ({ transaction, attempts }))
}

function asSent(
  { transaction, attempt, attempts, draft }: SignedItem,
  { chain }: RelayerRuntime,
): Transaction {
  const event = transaction.status === 'pending' ? 'signed' : 'replaced'
  const drafts = [draft, ...openAttempts(attempts).map((other) => other.draft)]
  return {
    ...transaction,
    status: nextStatus(transaction.status, event),
    purpose: transaction.purpose === 'successor' ? 'request' : transaction.purpose,
    currentAttempt: attempt.number,
    // A transaction that is signed again and again still blocks the account.
    stuckSince: attempts.length === 0 ? undefined : transaction.stuckSince,
    cost: reservation(drafts, chain.cost),
    nextRunAt: new Date(attempt.signedAt.getTime() + REBROADCAST_MS),
  }
}

/** Time in ms until a duplicate is signed again: by then there is another blockhash. */
const RE_SIGN_MS = 1_000

interface Signed {
  readonly transaction: Transaction
  readonly attempt: Attempt
}

/**
 * Removes duplicates on chains without nonces. There, two requests with the same content can result in the
 * same bytes, which the network executes once, so only one of them may own the bytes. A duplicate is signed
 * again with another blockhash, or fails if a third party signed it. Returns the other items.
 */
async function withoutDuplicates<T extends Signed>(
  context: TransactionsContext,
  { chain }: RelayerRuntime,
  signed: readonly T[],
): Promise<T[]> {
  if (chain.sequencing || signed.length === 0) return [...signed]
  const { db, clock } = context
  const owners = await findHashOwners(
    db,
    signed.map(({ attempt }) => attempt.signed.hash),
  )
  const kept: T[] = []
  const duplicates: Transaction[] = []
  for (const item of signed) {
    const { transaction, attempt } = item
    const owner = owners.get(attempt.signed.hash) ?? transaction.id
    owners.set(attempt.signed.hash, owner)
    if (owner === transaction.id) kept.push(item)
    else
      duplicates.push(
        settled(transaction, chain.expiry?.reSignable(transaction.request) ?? true, {
          owner,
          now: clock.now(),
        }),
      )
  }
  if (duplicates.length > 0) await saveInOwnTransaction(context, duplicates)
  return kept
}

function settled(
  transaction: Transaction,
  reSignable: boolean,
  { owner, now }: { readonly owner: string; readonly now: number },
): Transaction {
  if (reSignable) {
    const statusReason = `Transaction ${owner} has the same bytes; this one is signed with another blockhash.`
    return { ...transaction, statusReason, nextRunAt: new Date(now + RE_SIGN_MS) }
  }
  const status = nextStatus(transaction.status, 'failed')
  const statusReason = `The same signed transaction was accepted before, as ${owner}.`
  return { ...transaction, status, statusReason, cost: 0n }
}
