import { larger, smaller } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { Answer, ComparedBlock, LeftOut, PriceComparison } from '../../answer.ts'
import type { Speed } from '../../speed.ts'
import type { EvmDraft, Fees } from '../content.ts'
import type { EvmAccount, EvmAttempt, EvmPrepared } from '../types.ts'
import {
  bumped,
  capped,
  ceilingOf,
  feeLimit,
  isNewer,
  isWithin,
  type Market,
  type MarketBlock,
  marketFees,
  type Pricing,
  raisedTo,
  tipOf,
} from './fees.ts'
import { NO_CODE } from './gas.ts'
import { type PrepareContext, prepareDraft } from './prepare.ts'

/**
 * Prepares the no-op that is broadcast in place of a refused attempt (`Comparison` of the capabilities). Its
 * receiver has no code, so nothing of what it calls can be the reason of a refusal; and a transfer to oneself
 * would be the command of Flashbots Protect to cancel.
 */
export async function prepareComparedNoop(
  context: PrepareContext,
  { refused, account }: { readonly refused: EvmAttempt; readonly account: EvmAccount },
): Promise<Answer<EvmPrepared>> {
  const request = { type: 'evm', to: NO_CODE, value: 0n, data: '0x', speed: 'fast', isNoop: true } as const
  const answer = await prepareDraft(context, { request, account })
  if (answer.kind !== 'ok') return answer
  const { draft, ...rest } = answer.value
  return { kind: 'ok', value: { ...rest, draft: { ...draft, fees: atMost(draft.fees, refused.draft.fees) } } }
}

/**
 * Returns the fees with neither price above that of `most`: a price that causes a refusal then also causes
 * that of the no-op.
 */
function atMost(fees: Fees, most: Fees): Fees {
  const lowered = capped(fees, ceilingOf(most))
  if (lowered.kind === 'legacy' || most.kind === 'legacy') return lowered
  const maxPriorityFeePerGas = smaller(lowered.maxPriorityFeePerGas, most.maxPriorityFeePerGas)
  return { ...lowered, maxPriorityFeePerGas }
}

interface Compared extends Pick<Pricing, 'feeLimitMultiplier'> {
  /** The most that the transaction may cost in fees, in wei. */
  readonly txFeeCap: bigint
  readonly level: Speed
  readonly market: Market
}

/**
 * Compares what a draft offers with the market, with the newest block, and with the limit of raises. Pure.
 */
export function comparePrice(
  draft: EvmDraft,
  { level, market, feeLimitMultiplier, txFeeCap }: Compared,
): PriceComparison {
  const { fees, gasLimit, rollupFee = 0n } = draft
  const pricing = { eip1559: fees.kind === 'eip1559', feeLimitMultiplier }
  const asked = marketFees(market, level, pricing)
  const limit = feeLimit(market, level, pricing)
  const raised = raisedTo(asked, { ceiling: bumped(ceilingOf(fees)), tip: bumped(tipOf(fees)) })
  return omitUndefined({
    bid: ceilingOf(fees),
    market: ceilingOf(asked),
    baseFee: market.baseFee,
    newest: market.block && compareBlock(draft, market, market.block),
    limit: limit.ceiling,
    feeCap: larger(0n, txFeeCap - rollupFee) / gasLimit,
    atLimit: isWithin(raised, limit) ? undefined : (true as const),
  })
}

/**
 * A draft has no block if no node returned one. Then every block is new to it, once: the next attempt has
 * one.
 */
function compareBlock(draft: EvmDraft, market: Market, block: MarketBlock): ComparedBlock {
  const { preparedAtBlock } = draft
  return omitUndefined({
    number: block.number,
    time: block.time,
    isNew: preparedAtBlock === undefined || isNewer(block.number, preparedAtBlock),
    leftOut: leftOutOf(draft, market, block),
  })
}

/**
 * Judges the block by its header. In a full block the tip decides: below what the dearest of them paid,
 * others were preferred. If a node does not return the used gas, the room is unknown, which counts as room:
 * the block came without the transaction.
 */
function leftOutOf({ fees, gasLimit }: EvmDraft, { tips }: Market, block: MarketBlock): LeftOut {
  const { baseFee = 0n, gasUsed } = block
  if (ceilingOf(fees) < baseFee) return 'base_fee'
  if (gasUsed === undefined || gasUsed + gasLimit <= block.gasLimit) return 'room'
  const tip = smaller(tipOf(fees), ceilingOf(fees) - baseFee)
  return tip < tips.fastest ? 'outbid' : 'full'
}
