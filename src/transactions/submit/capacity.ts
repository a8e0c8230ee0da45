import type { ErrandFirst } from '../../chains/chain.ts'
import { accountOf, type HeldAccount, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { countInFlight, NO_LINE } from '../store/work-store.ts'
import type { OpenLine } from './assign-nonces.ts'

/** How many more transactions each line can take, by address. Lines stand in the order of the operator. */
export type Seats = ReadonlyMap<string, number>

/**
 * The room of each line: what is signed and not mined takes a seat, and so does what has a nonce already; everything in
 * flight may be waiting for just that nonce (I5). A chain without nonces has the limit of the account alone.
 */
export async function freeSeats(
  context: TransactionsContext,
  { relayer, operator }: HeldAccount,
  pending: readonly Transaction[],
): Promise<Seats> {
  const taken = await countInFlight(context.db, relayer.id)
  const { nonces, inFlightPerLine: limit = context.maxInFlight } = operator.chain.traits
  const limits = await Promise.all(
    operator.lines.map(async ({ address }) =>
      Math.min(limit, (await operator.chain.inFlightLimit?.(address)) ?? limit),
    ),
  )
  return new Map(
    operator.lines.map(({ address }, index) => {
      const numbered = pending.filter(({ nonce, line }) => nonce !== undefined && line === address)
      const inFlight = taken.get(nonces ? address : NO_LINE) ?? 0
      return [address, Math.max(0, (limits[index] ?? limit) - inFlight - numbered.length)]
    }),
  )
}

/** Lines that take something now, and what has to be done before the others do. */
export interface LineSurvey {
  readonly lines: readonly OpenLine[]
  readonly errand?: ErrandFirst
  /** Why the account itself cannot act, where it cannot. */
  readonly unusable?: string
}

/**
 * Asks the chain for the next nonce of every line with seats; something outside may have used nonces ahead of our counters.
 * Unknown is never a reason to take a number (I6).
 */
export async function surveyLines({ relayer, operator }: HeldAccount, seats: Seats): Promise<LineSurvey> {
  const open = [...seats].filter(([, free]) => free > 0)
  const answers = await operator.chain.nonces(open.map(([address]) => address))
  const lines: OpenLine[] = []
  const missing: string[] = []
  let unusable: string | undefined
  for (const [index, [address, free]] of open.entries()) {
    const answer = answers[index]
    if (answer?.kind === 'ok') lines.push({ address, seats: free, chainNonce: answer.value })
    if (answer?.kind !== 'refused') continue
    if (address === relayer.address) unusable = answer.refusal.detail
    else missing.push(address)
  }
  if (unusable !== undefined) return { lines: [], unusable }
  const request = missing.length === 0 ? undefined : operator.chain.openLines(missing, accountOf(relayer))
  const detail = `Opens ${missing.length} channel account${missing.length === 1 ? '' : 's'}.`
  return request === undefined ? { lines } : { lines, errand: { kind: 'errand', request, detail } }
}
