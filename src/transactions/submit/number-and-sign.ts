import type { Db, Tx } from '../../database/db.ts'
import { assertFence, type Lease } from '../../database/lease.ts'
import { transact } from '../../database/locks/transact.ts'
import type { SeenNonce, UnexplainedNonces } from '../../relayers/health/health.ts'
import { sharesAccount } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { raiseKnownNonce } from '../../relayers/store.ts'
import { traceStep } from '../model/observer.ts'
import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findExplainedNonces, findNextNonces, lockCounters, setNextNonce } from '../store/nonce-store.ts'
import { type Signable, type SignedItem, signAll, storeSignedIn } from './sign.ts'

/**
 * Signing is repeated this many times if transactions or counters change in the meantime. Then the next step
 * tries again.
 */
const MAX_TRIES = 5

interface Batch {
  readonly relayer: Relayer
  readonly runtime: RelayerRuntime
  /** The content for each transaction, with a nonce or without. */
  readonly signables: readonly Signable[]
  readonly sourceAccounts: readonly AccountCapacity[]
  readonly lease: Lease
}

/**
 * Assigns nonces to the transactions without one, signs all of them, and stores nonces, counters and bytes in
 * one database transaction: no nonce is lost and none is assigned twice (I2), and the bytes are stored before
 * they leave the process (I3). Signing happens before it, with the next nonces. If another writer has since
 * changed a transaction or a counter, the signatures have not left the process; they are discarded and made
 * again. Returns the transactions that may be broadcast now. If the chain has used nonces that the records do
 * not explain, nothing is signed, and the check of the relayer's health disables it.
 */
export async function numberAndSign(
  context: TransactionsContext,
  { signables, ...batch }: Batch,
): Promise<TransactionWithAttempts[]> {
  let open = signables
  for (let tries = 0; tries < MAX_TRIES && open.length > 0; tries += 1) {
    const result = await tryOnce(context, { ...batch, signables: open })
    if (result.kind === 'stored') return result.stored
    if (result.kind === 'unexplained') {
      await context.checkHealth(batch.relayer)
      return []
    }
    open = result.open
  }
  return []
}

/**
 * `changed`: nothing was stored, and only the signables in `open` can still be · `unexplained`: the chain is
 * ahead of the records.
 */
type Result =
  | { readonly kind: 'unexplained' }
  | { readonly kind: 'stored'; readonly stored: TransactionWithAttempts[] }
  | { readonly kind: 'changed'; readonly open: readonly Signable[] }

async function tryOnce(context: TransactionsContext, batch: Batch): Promise<Result> {
  const { relayer, runtime, signables, sourceAccounts } = batch
  const unnumbered = signables.filter(isUnnumbered).map(({ transaction }) => transaction)
  const counters = await findNextNonces(context.db, relayer.id)
  if ((await findUnexplained(context, relayer, { sourceAccounts, counters })).length > 0)
    return { kind: 'unexplained' }
  const plan = planNonces(unnumbered, sourceAccounts, counters)
  const planned = new Map(plan.transactions.map((transaction) => [transaction.id, transaction]))
  const chosen = signables.flatMap((signable): Signable[] => {
    if (!isUnnumbered(signable)) return [signable]
    const transaction = planned.get(signable.transaction.id)
    return transaction === undefined ? [] : [{ ...signable, transaction }]
  })
  const signed = await signAll(context, runtime, chosen)
  const usable = new Set(signed.map(({ transaction }) => transaction.id))
  // A nonce without bytes would be a gap.
  if (plan.transactions.some(({ id }) => !usable.has(id)))
    return { kind: 'changed', open: signables.filter(({ transaction }) => usable.has(transaction.id)) }
  return traceStep(
    context,
    { name: 'store', transactions: signed.map(({ transaction }) => transaction) },
    () => store(context, batch, { plan, counters, signed }),
  )
}

function isUnnumbered({ transaction: { nonce } }: Signable): boolean {
  return nonce === undefined
}

interface SignedPlan {
  readonly plan: NoncePlan
  /** The counters that the plan follows. */
  readonly counters: ReadonlyMap<string, bigint>
  readonly signed: readonly SignedItem[]
}

/**
 * Another writer has since changed transactions of the plan: the database transaction rolls back, so that no
 * nonce is taken for them.
 */
class ChangedMeanwhileError extends Error {
  override readonly name = 'ChangedMeanwhileError'
  /** Their ids. */
  readonly changed: ReadonlySet<string>

  constructor(changed: readonly string[]) {
    super('Transactions changed while they were signed.')
    this.changed = new Set(changed)
  }
}

async function store(
  { db, clock }: TransactionsContext,
  batch: Batch,
  signedPlan: SignedPlan,
): Promise<Result> {
  const now = new Date(clock.now())
  try {
    return await transact(db, (tx) => storeIn(tx, batch, { ...signedPlan, now }))
  } catch (error) {
    if (!(error instanceof ChangedMeanwhileError)) throw error
    const { changed } = error
    return {
      kind: 'changed',
      open: batch.signables.filter(({ transaction }) => !changed.has(transaction.id)),
    }
  }
}

async function storeIn(
  tx: Tx,
  { relayer: { id: relayerId }, runtime, signables, lease }: Batch,
  { plan, counters, signed, now }: SignedPlan & { readonly now: Date },
): Promise<Result> {
  if (plan.transactions.length === 0) await assertFence(tx, lease)
  else {
    const locked = await lockCounters(tx, { relayerId, lease })
    const isCurrent = [...plan.next.keys()].every((address) => locked.get(address) === counters.get(address))
    if (!isCurrent) return { kind: 'changed', open: signables }
    for (const [address, nonce] of plan.next) await setNextNonce(tx, { relayerId, address, nonce })
  }
  const stored = await storeSignedIn(tx, { runtime, signed, now, keepsRequest: true })
  const written = new Set(stored.map(({ transaction }) => transaction.id))
  const changed = plan.transactions.flatMap(({ id }) => (written.has(id) ? [] : [id]))
  if (changed.length > 0) throw new ChangedMeanwhileError(changed)
  return { kind: 'stored', stored }
}

/** The usable nonces of one source account. */
export interface AccountCapacity {
  readonly address: string
  /** The lowest nonce that the chain can still use. A stored counter below it is raised to it. */
  readonly chainNonce: bigint
  /** The number of further transactions that may be in flight. */
  readonly slots: number
}

/** Nonces for transactions, not stored yet. */
interface NoncePlan {
  /** The transactions that get a nonce, with it, in their order. */
  readonly transactions: readonly Transaction[]
  /** The next nonce of each source account that has one, by address. */
  readonly next: ReadonlyMap<string, bigint>
}

/**
 * Plans nonces for transactions without one, in order, while source accounts have free slots. It fills one
 * source account after the other, so that a relayer with one source account keeps the order of acceptance.
 * Pure.
 */
function planNonces(
  transactions: readonly Transaction[],
  sourceAccounts: readonly AccountCapacity[],
  counters: ReadonlyMap<string, bigint>,
): NoncePlan {
  const waiting = [...transactions]
  const numbered: Transaction[] = []
  const next = new Map<string, bigint>()
  for (const { address, chainNonce, slots } of sourceAccounts) {
    const withSlots = waiting.splice(0, Math.max(0, slots))
    if (withSlots.length === 0) continue
    const counter = counters.get(address)
    const first = counter === undefined || counter < chainNonce ? chainNonce : counter
    numbered.push(
      ...withSlots.map((transaction, index) => withNonce(transaction, address, first + BigInt(index))),
    )
    next.set(address, first + BigInt(withSlots.length))
  }
  return { transactions: numbered, next }
}

function withNonce(transaction: Transaction, sourceAccount: string, nonce: bigint): Transaction {
  return { ...transaction, status: nextStatus(transaction.status, 'numbered'), sourceAccount, nonce }
}

interface Accounts {
  readonly sourceAccounts: readonly SeenNonce[]
  /**
   * The next nonces to assign, by address, where the caller knows them: an account that is not ahead of its
   * counter needs no query.
   */
  readonly counters?: ReadonlyMap<string, bigint>
}

/**
 * Finds the accounts whose chain is ahead of the records: nonces were used by transactions that this database
 * does not know. The service stores what it signs before it leaves the process (I3), so another program has
 * the key, or the database went back in time: it was restored from a backup, or a standby without its last
 * commits took over. Then pending transactions may already be paid. Read the nonces of the chain before the
 * call. For an account seen for the first time, its used nonces count as explained.
 */
export async function findUnexplained(
  { db }: { readonly db: Db },
  relayer: Relayer,
  { sourceAccounts, counters }: Accounts,
): Promise<UnexplainedNonces[]> {
  if (sharesAccount(relayer)) return []
  const suspects = sourceAccounts.filter(
    ({ address, chainNonce }) => !isWithin(chainNonce, counters?.get(address)),
  )
  if (suspects.length === 0) return []
  const explained = await findExplainedNonces(
    db,
    relayer,
    suspects.map(({ address }) => address),
  )
  const unexplained: UnexplainedNonces[] = []
  for (const { address, chainNonce, inPool = false } of suspects) {
    const known = explained.get(address)
    if (known === undefined) await raiseKnownNonce(db, { relayerId: relayer.id, address, nonce: chainNonce })
    else if (chainNonce > known)
      unexplained.push({ address, chainNonce, explained: known, ...(inPool && { inPool }) })
  }
  return unexplained
}

function isWithin(chainNonce: bigint, counter: bigint | undefined): boolean {
  return counter !== undefined && chainNonce <= counter
}
