import type { Prepared, SetupRequired } from '../../chains/attempt.ts'
import type { Sequencing } from '../../chains/capabilities.ts'
import { accountOf, type LeasedAccount, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { type InFlight, NO_SOURCE_ACCOUNT } from '../store/due-store.ts'
import { findConfirmedNonces } from '../store/nonce-store.ts'
import type { AccountCapacity } from './number-and-sign.ts'

/** The free slots of each source account, by address, in the order of the relayer's source accounts. */
type Slots = ReadonlyMap<string, number>

/** The room for more transactions in flight, and the money that those in flight need. */
interface Headroom {
  readonly slots: Slots
  /** The maximum that the transactions in flight can still take from the account, in the smallest unit. */
  readonly reserved: bigint
}

/**
 * Returns the number of pending transactions that a step reads: as many as can get a slot beside those in
 * flight, because more may wait than a step should read. It is one for each source account at least, so that
 * a full account still sends what has its nonce already.
 */
export function pendingLimit(
  { maxInFlight }: TransactionsContext,
  { runtime }: LeasedAccount,
  { counts }: InFlight,
): number {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const accounts = runtime.sourceAccounts.length
  return Math.max(accounts, Math.min(maxInFlight, maxInFlight * accounts - total))
}

/**
 * Counts the free slots of each source account, and sums what is reserved in flight. A signed transaction
 * that is not mined uses a slot, and so does a pending one that has a nonce, because everything in flight may
 * wait for exactly that nonce (I5). A chain without nonces has one limit for the account.
 */
export async function measureHeadroom(
  context: TransactionsContext,
  { runtime }: LeasedAccount,
  { inFlight, pending }: { readonly inFlight: InFlight; readonly pending: readonly Transaction[] },
): Promise<Headroom> {
  const { counts, reserved } = inFlight
  const { sequencing } = runtime.chain
  const limit = sequencing?.maxInFlight ?? context.maxInFlight
  const limits = await Promise.all(
    runtime.sourceAccounts.map(async ({ address }) =>
      Math.min(limit, (await sequencing?.inFlightLimit?.(address)) ?? limit),
    ),
  )
  const slots = new Map(
    runtime.sourceAccounts.map(({ address }, index) => {
      const numbered = pending.filter(
        ({ nonce, sourceAccount }) => nonce !== undefined && sourceAccount === address,
      )
      const signed = counts.get(sequencing ? address : NO_SOURCE_ACCOUNT) ?? 0
      return [address, Math.max(0, (limits[index] ?? limit) - signed - numbered.length)]
    }),
  )
  return { slots, reserved }
}

/** Source accounts with free slots, and the setup transaction that the others need first. */
export interface MeasuredCapacity {
  readonly sourceAccounts: readonly AccountCapacity[]
  readonly setup?: SetupRequired
  /** The reason why the relayer's own account cannot send; absent if it can. */
  readonly unusable?: string
}

/**
 * Reads the next nonce of every source account with free slots from the chain, because another program may
 * have used nonces ahead of the stored counters. A source account without a reply, or whose nonces the chain
 * has lost, gets no transaction (I6).
 */
export async function measureCapacity(
  context: TransactionsContext,
  leased: LeasedAccount,
  { slots, sequencing }: { readonly slots: Slots; readonly sequencing: Sequencing },
): Promise<MeasuredCapacity> {
  const { relayer, runtime } = leased
  const open = [...slots].filter(([, free]) => free > 0)
  const answers = await sequencing.nonces(open.map(([address]) => address))
  const sourceAccounts: AccountCapacity[] = []
  const missing: string[] = []
  let unusable: string | undefined
  for (const [index, [address, free]] of open.entries()) {
    const answer = answers[index]
    if (answer?.kind === 'ok') sourceAccounts.push({ address, slots: free, chainNonce: answer.value })
    if (answer?.kind !== 'refused') continue
    if (address === relayer.address) unusable = answer.refusal.detail
    else missing.push(address)
  }
  if (unusable !== undefined) return { sourceAccounts: [], unusable }
  const next = new Map(sourceAccounts.map(({ address, chainNonce }) => [address, chainNonce]))
  const regressed = await findRegressedNonces(context, leased, next)
  const usable = sourceAccounts.filter(({ address }) => !regressed.has(address))
  const request =
    missing.length === 0 ? undefined : await runtime.chain.channels?.open(missing, accountOf(relayer))
  const detail = `Opens ${missing.length} channel account${missing.length === 1 ? '' : 's'}.`
  return request === undefined
    ? { sourceAccounts: usable }
    : { sourceAccounts: usable, setup: { kind: 'setup', request, detail } }
}

/**
 * Finds the source accounts whose next nonce on the chain belongs to a confirmed transaction. The chain was
 * reset, or the endpoint lags far behind, so no nonce can be assigned. An account whose next nonce has not
 * fallen since the last step is none of them: an endpoint that is one block behind the receipt of the last
 * transaction delays nothing.
 */
async function findRegressedNonces(
  { db, log, seenNonces }: TransactionsContext,
  { relayer, runtime: { chain } }: LeasedAccount,
  next: ReadonlyMap<string, bigint>,
): Promise<ReadonlySet<string>> {
  const seen = seenNonces.get(chain) ?? new Map<string, bigint>()
  seenNonces.set(chain, seen)
  const suspects = [...next].filter(([address, nonce]) => nonce < (seen.get(address) ?? nonce + 1n))
  const confirmed = await findConfirmedNonces(
    db,
    relayer,
    suspects.map(([address]) => address),
  )
  const regressed = new Set(
    suspects.flatMap(([address, nonce]) => {
      const last = confirmed.get(address)
      return last !== undefined && nonce <= last ? [address] : []
    }),
  )
  for (const [address, nonce] of next) if (!regressed.has(address)) seen.set(address, nonce)
  if (regressed.size > 0)
    log.warn(
      { relayer: relayer.id, accounts: [...regressed] },
      'next nonce on the chain belongs to a confirmed transaction; nothing signed',
    )
  return regressed
}

/** A pending transaction with the content that could be signed for it. */
export interface Ready {
  readonly transaction: Transaction
  readonly prepared: Prepared
}

/** The transactions that the account can pay for now, and the first one that it cannot, with the reason. */
interface Affordable {
  readonly ready: readonly Ready[]
  readonly short?: { readonly transaction: Transaction; readonly reason: string } | undefined
}

/**
 * Selects, in the order of acceptance, the transactions that the account can pay for on top of everything in
 * flight, so that no nonce is used for a transaction without money and none overtakes one that waits for
 * money. No-ops that fill a nonce always pass, because later nonces wait for them. If no node answers, all
 * pass, and the node decides at the broadcast (I6).
 * @param reserved The maximum that the transactions in flight can still cost, read before the balance: a
 * block between the two reads makes the remainder too small, never too large.
 */
export async function affordable(
  { relayer, runtime: { chain } }: LeasedAccount,
  ready: readonly Ready[],
  reserved: bigint,
): Promise<Affordable> {
  const balance = await chain.balance(relayer.address)
  if (balance.kind !== 'ok') return { ready }
  let left = balance.value - reserved
  const paid: Ready[] = []
  for (const item of ready) {
    const cost = chain.cost(item.prepared.draft)
    if (cost > left && item.transaction.nonce === undefined) {
      const reason = `Waiting for funds: up to ${cost} ${chain.unit} are needed, ${left < 0n ? 0n : left} of ${balance.value} are not reserved for transactions in flight.`
      return { ready: paid, short: { transaction: item.transaction, reason } }
    }
    left -= cost
    paid.push(item)
  }
  return { ready: paid }
}
