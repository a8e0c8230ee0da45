import { larger } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { Answer } from '../../answer.ts'
import type { AfterExpiry, SetupRequired } from '../../prepared.ts'
import type { StellarDraft, StellarRequest } from '../content.ts'
import type { StellarAccount, StellarAttempt, StellarPrepared } from '../types.ts'
import { notExcluded } from './external-nonce.ts'
import { budgetOf, decideBid, replacementFloor, underpriced } from './fees.ts'
import {
  type Content,
  logsOf,
  type PrepareContext,
  prepareContent,
  prepareDraft,
  wishFor,
} from './prepare.ts'
import { replaceAfterExpiry } from './replace-after-expiry.ts'

/** New content in place of attempts with the present sequence number of the transaction. */
export interface Replacement {
  readonly request: StellarRequest
  readonly attempts: readonly StellarAttempt[]
  readonly account: StellarAccount
}

/**
 * Prepares a draft in place of every attempt that a node may hold: inside a fee bump, at ten times the highest rate among them
 * (stellar-core `TransactionQueue::canAdd`, `canReplaceByFee`). When no node holds one any more, it prepares a new draft like the first.
 * Content with another sequence number waits until the attempts have expired.
 */
export async function prepareReplacement(
  context: PrepareContext,
  replacement: Replacement,
): Promise<Answer<StellarPrepared> | SetupRequired<StellarRequest> | AfterExpiry> {
  const { request, attempts, account } = replacement
  const earlier = notExcluded(request, attempts)
  if (earlier.length > 0) return replaceAfterExpiry(context, replacement, earlier)
  const floor = replacementFloor(attempts)
  if (floor === undefined) return prepareDraft(context, request, account)
  const market = await context.market()
  if (market.kind !== 'ok') return market
  const content = await prepareContent(context, {
    request,
    account,
    closeTime: market.value.closeTime,
  })
  if (content.kind !== 'ok') return content
  const maxFee = budgetOf(request, account)
  const answer = raised(content.value.content, { market: market.value, floor, maxFee })
  const { included } = content.value
  return answer.kind === 'ok' ? { kind: 'ok', value: omitUndefined({ ...answer.value, included }) } : answer
}

interface Raise {
  readonly market: Parameters<typeof wishFor>[1]
  readonly floor: bigint
  readonly maxFee: bigint
}

/** Bids for the content at least `floor`, inside a fee bump; refuses when `maxFee` does not allow it. */
function raised(content: Content, { market, floor, maxFee }: Raise): Answer<StellarPrepared> {
  const wish = wishFor(content, market, maxFee)
  const bid = decideBid({ ...wish, least: larger(wish.least, floor) })
  if (bid.kind === 'short') return { kind: 'refused', refusal: underpriced(bid.needed, maxFee) }
  const draft: StellarDraft = { ...content, feePerOperation: bid.feePerOperation, bumped: true, maxFee }
  const log = `The bid is now ${bid.feePerOperation} stroops for each operation; a node asks for at least ${floor}.`
  return { kind: 'ok', value: { draft, logs: [log, ...logsOf(bid)] } }
}
