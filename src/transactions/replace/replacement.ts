import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../access/principal.ts'
import { appendEntries } from '../../audit/append-store.ts'
import { auditLogOf } from '../../audit/entry.ts'
import type { ExternalNonce } from '../../chains/capabilities.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { type AppError, relayerNotFound } from '../../errors.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import { shortOfFunds } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { lockRelayer } from '../../relayers/store.ts'
import { type Purchase, spend } from '../../spending/ledger.ts'
import { externalNonceProblem, usedExternalNonces } from '../accept/checks.ts'
import { auditedAction, type TransactionAction } from '../model/audited-transaction.ts'
import { reportFinished } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { reservedBy } from '../store/due-store.ts'
import { findTransaction } from '../store/lookups-store.ts'
import { lockAccount, setNextNonce } from '../store/nonce-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'

/** A replacement or cancellation that a caller requests. */
export interface Change extends TransactionAction {
  readonly relayer: Relayer
  readonly id: string
  /** Absent for a cancellation. */
  readonly request?: ChainRequest
  /** A cancellation that needs a signature is refused. */
  readonly unsignedOnly?: boolean | undefined
}

/** New content for a transaction, and its sender. */
export interface Replacing {
  readonly relayer: Relayer
  readonly id: string
  readonly request: ChainRequest
  readonly actor: Actor
}

/** The transaction in its current state, and sentences about the change for the caller. */
export interface Replaced extends TransactionWithAttempts {
  readonly logs: readonly string[]
}

/** The nonces that a change takes and frees. */
export interface NonceChange {
  /** The nonce of a third party that the transaction gets now, or when its earlier version has expired. */
  readonly claimed?: ExternalNonce | undefined
  /** The source account of the service whose nonce the transaction no longer has. */
  readonly freed?: string | undefined
}

/** A changed transaction, and the change that it is the result of. */
interface ChangedTransaction {
  readonly change: Change
  /** The transaction as it was. */
  readonly before: Transaction
  readonly replaced: Replaced
  /** What the new content takes from budgets. */
  readonly purchase: Purchase | undefined
}

/**
 * Stores the changed transaction and its audit entry. Writes nothing and returns undefined if the record has
 * since changed.
 * @throws AppError `already_accepted` if another transaction has the claimed nonce; `rule_violated` for
 * content beyond a budget
 */
export async function saveReplaced(
  context: TransactionsContext,
  { change, before, replaced, purchase }: ChangedTransaction,
  { claimed, freed }: NonceChange = {},
): Promise<Replaced | undefined> {
  const { id, relayerId } = replaced.transaction
  const { db, clock } = context
  const saved = await transact(db, async (tx) => {
    if (claimed) await requireUnused(context, tx, { relayerId, id, nonce: claimed })
    if (freed !== undefined) await lockAccount(tx, relayerId)
    const [written] = await saveTransactions(tx, [replaced.transaction])
    // The nonce is free again: without a counter, the service reads the next one from the chain.
    if (written && freed) await setNextNonce(tx, { relayerId, address: freed, nonce: null })
    if (written && purchase) await spend(tx, purchase, new Date(clock.now()))
    if (written) await auditChange(tx, { change, before, after: written })
    return written
  })
  if (saved === undefined) return undefined
  reportFinished(context, [saved])
  return { ...replaced, transaction: saved }
}

/**
 * Saves are repeated this often while a worker notes why the transaction waits. Each takes one statement, and
 * a worker must query nodes between two.
 */
const MAX_SAVES = 20

/**
 * Like `saveReplaced`, for a transaction that waits to be signed. While the caller's new content was
 * prepared, which takes as long as the nodes take, a worker may have noted again why it waits, and when it
 * tries next: that says nothing about the new content.
 */
export async function savePending(
  context: TransactionsContext,
  changed: ChangedTransaction,
  nonces: NonceChange,
): Promise<Replaced | undefined> {
  let { before, replaced } = changed
  for (let saves = 0; saves < MAX_SAVES; saves += 1) {
    const saved = await saveReplaced(context, { ...changed, before, replaced }, nonces)
    if (saved) return saved
    const now = await findTransaction(context.db, before.relayerId, before.id)
    if (now?.attempts.length !== replaced.attempts.length) return undefined
    if (!isDeepStrictEqual(withoutWait(now.transaction), withoutWait(before))) return undefined
    before = now.transaction
    replaced = { ...replaced, transaction: { ...replaced.transaction, version: before.version } }
  }
  return undefined
}

function withoutWait(transaction: Transaction): Partial<Transaction> {
  const {
    version: _version,
    statusReason: _reason,
    nextRunAt: _at,
    awaitsPrice: _price,
    ...rest
  } = transaction
  return rest
}

interface AuditedStates {
  readonly change: Change
  readonly before: Transaction
  readonly after: Transaction
}

/**
 * Appends the entry of a replacement or cancellation. A cancellation has no new content. Call it last, as
 * `appendEntries`.
 */
export async function auditChange(tx: Tx, { change, before, after }: AuditedStates): Promise<void> {
  const states = change.request === undefined ? { before } : { before, after }
  await appendEntries(tx, auditLogOf(after.relayerId), [auditedAction(after.id, change, states)])
}

/** A transaction, and a third party's nonce for it. */
export interface NonceClaim {
  readonly relayerId: string
  readonly id: string
  readonly nonce: ExternalNonce
}

/** Locks the relayer, so that no other transaction gets the nonce before the commit. */
async function requireUnused(context: TransactionsContext, tx: Tx, claim: NonceClaim): Promise<void> {
  const problem = await nonceClaimProblem(context, tx, claim)
  if (problem) throw problem
}

/**
 * Returns the reason why the transaction cannot get the nonce. Locks the relayer until the commit, so that
 * the result stays valid.
 */
export async function nonceClaimProblem(
  { runtimeOf }: TransactionsContext,
  tx: Tx,
  { relayerId, id, nonce }: NonceClaim,
): Promise<AppError | undefined> {
  const relayer = await lockRelayer(tx, relayerId, 'update')
  if (relayer === undefined) return relayerNotFound(poolIdOf(relayerId))
  const runtime = runtimeOf(relayer)
  const used = await usedExternalNonces(tx, runtime, { relayerId, nonces: [nonce], except: id })
  return externalNonceProblem(runtime, nonce, used)
}

/**
 * Checks that the account can pay for the replacement. The reservation of the replaced attempt is not
 * counted, because only one of the two can be included. Without a reply of the nodes there is no refusal
 * (I6).
 * @throws AppError `insufficient_balance`
 */
export async function checkReplacementFunds(
  context: TransactionsContext,
  { relayer, id, cost }: { relayer: Relayer; id: string; cost: bigint },
): Promise<void> {
  const reserved = await reservedBy(context.db, relayer.id, {
    now: new Date(context.clock.now()),
    except: id,
  })
  const { chain } = context.runtimeOf(relayer)
  const balance = await chain.balance(relayer.address)
  const { unit } = chain
  const short =
    balance.kind === 'ok'
      ? shortOfFunds(relayer, { unit, balance: balance.value, reserved, cost })
      : undefined
  if (short) throw short
}
