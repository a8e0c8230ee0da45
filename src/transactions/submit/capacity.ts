import type { Sequencing, SetupRequired } from '../../chains/chain.ts'
import { accountOf, type LeasedAccount, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { countInFlight, NO_SOURCE_ACCOUNT } from '../store/work-store.ts'
import type { AccountCapacity } from './assign-nonces.ts'

/** How many more transactions each line can take, by address. Lines stand in the order of the operator. */
export type Slots = ReadonlyMap<string, number>

/**
 * The room of each line: what is signed and not mined takes a seat, and so does what has a nonce already; everything in
 * flight may be waiting for just that nonce (I5). A chain without nonces has the limit of the account alone.
 */
export async function freeSlots(
  context: TransactionsContext,
  { relayer, runtime }: LeasedAccount,
  pending: readonly Transaction[],
): Promise<Slots> {
  const taken = await countInFlight(context.db, relayer.id)
  const { sequencing } = runtime.chain
  const limit = sequencing?.maxInFlight ?? context.maxInFlight
  const limits = await Promise.all(
    runtime.sourceAccounts.map(async ({ address }) =>
      Math.min(limit, (await sequencing?.inFlightLimit?.(address)) ?? limit),
    ),
  )
  return new Map(
    runtime.sourceAccounts.map(({ address }, index) => {
      const numbered = pending.filter(
        ({ nonce, sourceAccount }) => nonce !== undefined && sourceAccount === address,
      )
      const inFlight = taken.get(sequencing ? address : NO_SOURCE_ACCOUNT) ?? 0
      return [address, Math.max(0, (limits[index] ?? limit) - inFlight - numbered.length)]
    }),
  )
}

/** Lines that take something now, and what has to be done before the others do. */
export interface MeasuredCapacity {
  readonly sourceAccounts: readonly AccountCapacity[]
  readonly setup?: SetupRequired
  /** Why the account itself cannot act, where it cannot. */
  readonly unusable?: string
}

/**
 * Asks the chain for the next nonce of every line with seats; something outside may have used nonces ahead of our counters.
 * Unknown is never a reason to take a number (I6).
 */
export async function measureCapacity(
  { relayer, runtime }: LeasedAccount,
  { slots, sequencing }: { readonly slots: Slots; readonly sequencing: Sequencing },
): Promise<MeasuredCapacity> {
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
  const request = missing.length === 0 ? undefined : runtime.chain.channels?.open(missing, accountOf(relayer))
  const detail = `Opens ${missing.length} channel account${missing.length === 1 ? '' : 's'}.`
  return request === undefined
    ? { sourceAccounts }
    : { sourceAccounts, setup: { kind: 'setup', request, detail } }
}
