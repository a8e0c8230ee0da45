import type { PriceComparison } from '../../chains/answer.ts'

/** A signed transaction that waits at the head of its queue, and what the chain shows about it. */
export interface RaiseCase {
  readonly price: PriceComparison
  /** A node has the newest attempt. */
  readonly isAccepted: boolean
  /** The newest attempt is a raise of the service already. */
  readonly isRaised: boolean
  /** Only private endpoints have it. */
  readonly isOnlyPrivate: boolean
  /** Higher tips are included first. Otherwise a sequencer takes what pays its base fee in the order of arrival. */
  readonly ordersByTip: boolean
}

/** The reasons for which the fee stays as it is although the transaction waits. */
export type WaitCode = 'no_new_block' | 'builders_choice' | 'price_is_right'

/** `detail` continues a sentence about the wait; absent where the record says already why it waits, or nothing has to be said. */
export type RaiseDecision =
  | { readonly kind: 'raise' }
  | { readonly kind: 'wait'; readonly code: WaitCode; readonly detail?: string }

const RAISE: RaiseDecision = { kind: 'raise' }
const PRICE_IS_RIGHT: RaiseDecision = { kind: 'wait', code: 'price_is_right' }

/**
 * Decides whether the chain shows a reason to pay more (I13). The bid is below the base fee of the next block; or a new block came since it was
 * priced, could have had the transaction, and left it out. Time alone is no reason: a chain that stands still, and a node whose head does, leave
 * out everything, whatever it pays. Pure.
 */
export function decideRaise(waiting: RaiseCase): RaiseDecision {
  const { price, isRaised } = waiting
  const { bid, baseFee, newest } = price
  const isBelowBaseFee = baseFee !== undefined && bid < baseFee
  if (newest === undefined) return isBelowBaseFee && !isRaised ? RAISE : PRICE_IS_RIGHT
  if (!newest.isNew && (isRaised || !isBelowBaseFee))
    return { kind: 'wait', code: 'no_new_block', detail: noNewBlock(newest) }
  return isBelowBaseFee ? RAISE : decideAboveBaseFee(waiting)
}

function decideAboveBaseFee({ price, isAccepted, isOnlyPrivate, ordersByTip }: RaiseCase): RaiseDecision {
  const { bid, market, newest } = price
  // It may wait for another reason than its price: no pool of the network has it.
  if (!isAccepted) return ordersByTip && bid < market ? RAISE : PRICE_IS_RIGHT
  if (isOnlyPrivate) return bid < market ? RAISE : BUILDERS_CHOICE
  const { leftOut } = newest ?? {}
  return ordersByTip && (leftOut === 'outbid' || leftOut === 'room') ? RAISE : PRICE_IS_RIGHT
}

/** A builder leaves a private transaction out for reasons of its own, such as a revert at present, and more money does not change them. */
const BUILDERS_CHOICE: RaiseDecision = {
  kind: 'wait',
  code: 'builders_choice',
  detail:
    'only private endpoints have it, and it offers what the market asks for, so their builders decide and its fee is not raised.',
}

/** Says since when there was no block, by the time that the newest block states. */
export function noNewBlock({ number, time }: NonNullable<PriceComparison['newest']>): string {
  const since = time === undefined ? '' : ` of ${time.toISOString()}`
  return `no new block since block ${number}${since}, so its fee is not raised.`
}
