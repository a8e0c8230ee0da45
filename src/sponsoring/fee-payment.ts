import type { Chain } from '../chains/chain.ts'
import type { ChainRequest, UnsignedTransaction } from '../chains/request.ts'
import { isPaidByUsers } from '../chains/sponsoring.ts'
import type { Db, Tx } from '../database/db.ts'
import { AppError } from '../errors.ts'
import { poolIdOf } from '../relayers/accounts/pool.ts'
import { sponsoringPoliciesOf } from '../relayers/policies/policy.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { type AtRisk, countAtRisk, findBuild } from './quotes-store.ts'

/** The relayer that is asked, and its chain. */
interface Asked {
  readonly relayer: Relayer
  readonly chain: Pick<Chain, 'sponsoring'>
}

/**
 * Adds the payment to a request that contains a transaction which the service built, and a user signed. Any
 * other request is unchanged, and then refused if it must pay. Whether the quote has ended, or was used, is
 * checked when the request is accepted.
 * @throws AppError `invalid_request` for an authorization that does not belong to the transaction
 */
export async function withFeePayment(
  db: Db,
  { relayer, chain: { sponsoring } }: Asked,
  request: ChainRequest,
): Promise<ChainRequest> {
  if (sponsoring === undefined || !isPaidByUsers(sponsoringPoliciesOf(relayer))) return request
  const hash = sponsoring.hashOf(request)
  const payment =
    hash === undefined ? undefined : await findBuild(db, { relayerId: poolIdOf(relayer.id), hash })
  if (payment === undefined) return request
  const answer = sponsoring.withPayment(request, payment)
  if (answer.kind === 'ok') return answer.value
  throw answer.kind === 'refused'
    ? new AppError(answer.refusal.code, answer.refusal.detail)
    : new Error('a payment is added without a node')
}

/**
 * Adds the payment to a transaction that the service only signs, like `withFeePayment`. The same bytes have
 * the same signature, so signing uses up nothing.
 * @throws AppError `valid_until_in_past` when the quote has ended
 */
export async function withSignedPayment(
  db: Db,
  { now, ...asked }: Asked & { readonly now: number },
  unsigned: UnsignedTransaction,
): Promise<UnsignedTransaction> {
  if (unsigned.type !== 'solana') return unsigned
  const request = await withFeePayment(db, asked, { ...unsigned, speed: 'average' })
  const ended = endedQuote(request, now)
  if (ended) throw ended
  const { payment } = request
  return payment === undefined ? unsigned : { ...unsigned, payment }
}

/**
 * Returns the error of a request whose quote has ended; undefined for any other. `now` is in ms since the
 * epoch.
 */
export function endedQuote({ payment }: ChainRequest, now: number): AppError | undefined {
  if (payment === undefined || payment.validUntil.getTime() > now) return undefined
  return new AppError(
    'valid_until_in_past',
    `The quote for this transaction ended at ${payment.validUntil.toISOString()}; build it again.`,
  )
}

/** Returns the error of a request whose quote another transaction has used. */
export function usedQuote(): AppError {
  return new AppError(
    'already_accepted',
    'This transaction was accepted before, and its payment pays for it once; list the transactions to find it.',
  )
}

/**
 * A failed transaction costs the relayer its fee, and its payment fails with it. A user to whom this happens
 * so often within a day gets no further ones until the day is over.
 */
const MOST_FAILED = 3

/**
 * The most open transactions of a user: all of them can fail, because each was checked while the tokens were
 * still there.
 */
const MOST_OPEN = 10

/** The day, in ms. */
const AT_RISK_MS = 86_400_000

/** What the users of a relayer have at risk, by user. */
export type RiskByPayer = Map<string, AtRisk>

/** Reads what these users have at risk. `now` is in ms since the epoch. */
export function readAtRisk(
  db: Db | Tx,
  {
    relayerId,
    payers,
    now,
  }: { readonly relayerId: string; readonly payers: readonly string[]; readonly now: number },
): Promise<RiskByPayer> {
  const since = new Date(now - AT_RISK_MS)
  return countAtRisk(db, { relayerId: poolIdOf(relayerId), payers: [...new Set(payers)], since })
}

/**
 * Returns the error for a user who has too much at risk to get a further transaction; undefined for any
 * other.
 */
export function riskRefusal(risks: RiskByPayer, payer: string): AppError | undefined {
  const { failed, open } = risks.get(payer) ?? NO_RISK
  if (failed >= MOST_FAILED)
    return new AppError(
      'policy_violation',
      `${failed} transactions of ${payer} failed within a day, and their fees were not paid. It gets no further ones until the day is over.`,
    )
  if (open < MOST_OPEN) return undefined
  return new AppError(
    'policy_violation',
    `${open} transactions of ${payer} are open, and at most ${MOST_OPEN} may be: their fees are not paid yet. Send the next one when one of them is confirmed.`,
  )
}

const NO_RISK: AtRisk = { failed: 0, open: 0 }

/** Counts one more open transaction. */
export function addOpen(risks: RiskByPayer, payer: string): void {
  const { failed, open } = risks.get(payer) ?? NO_RISK
  risks.set(payer, { failed, open: open + 1 })
}
