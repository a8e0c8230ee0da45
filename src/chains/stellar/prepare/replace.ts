import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { Answer } from '../../answer.ts'
import type { AfterExpiry, SetupRequired } from '../../prepared.ts'
import type { StellarRequest } from '../content.ts'
import type { StellarAccount, StellarAttempt, StellarPrepared } from '../types.ts'
import { notExcluded } from './external-nonce.ts'
import { budgetOf, replacementFloor } from './fees.ts'
import { type PrepareContext, prepareContent, prepareDraft } from './prepare.ts'
import { replaceAfterExpiry } from './replace-after-expiry.ts'
import { raised } from './speed-up.ts'

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
