import { larger } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import type { StellarDraft } from '../content.ts'
import type { StellarAttempt, StellarPrepared } from '../types.ts'
import { decideBid, replacementFloor, underpriced } from './fees.ts'
import { type Content, logsOf, type PrepareContext, wishFor } from './prepare.ts'

/** Prepares the content of the last attempt with a bid that the network accepts now, within the budget of that attempt. */
export async function prepareSpeedUp(
  context: PrepareContext,
  attempts: readonly StellarAttempt[],
): Promise<Answer<StellarPrepared>> {
  const last = attempts.at(-1)
  if (last === undefined) return { kind: 'unknown', detail: 'there is no attempt to raise' }
  const market = await context.market()
  if (market.kind !== 'ok') return market
  const { feePerOperation, bumped, maxFee, ...content } = last.draft
  const queued = replacementFloor(attempts)
  // A node refused the bid while the queue holds no attempt: the queue is full and demands more than the ledgers charged, so the bid
  // doubles.
  const floor = queued ?? feePerOperation * 2n
  const answer = raised(content, { market: market.value, floor, maxFee })
  if (answer.kind !== 'ok') return answer
  const draft = { ...answer.value.draft, bumped: bumped || queued !== undefined }
  return { kind: 'ok', value: { ...answer.value, draft } }
}

interface Raise {
  readonly market: Parameters<typeof wishFor>[1]
  readonly floor: bigint
  readonly maxFee: bigint
}

/** Bids for the content at least `floor`, inside a fee bump; refuses when `maxFee` does not allow it. */
export function raised(content: Content, { market, floor, maxFee }: Raise): Answer<StellarPrepared> {
  const wish = wishFor(content, market, maxFee)
  const bid = decideBid({ ...wish, least: larger(wish.least, floor) })
  if (bid.kind === 'short') return { kind: 'refused', refusal: underpriced(bid.needed, maxFee) }
  const draft: StellarDraft = { ...content, feePerOperation: bid.feePerOperation, bumped: true, maxFee }
  const log = `The bid is now ${bid.feePerOperation} stroops for each operation; a node asks for at least ${floor}.`
  return { kind: 'ok', value: { draft, logs: [log, ...logsOf(bid)] } }
}
