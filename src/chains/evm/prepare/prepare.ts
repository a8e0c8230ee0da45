import { numberToHex } from 'viem/utils'
import { larger, smaller } from '../../../lib/bigint.ts'
import type { Answer, Refusal } from '../../answer.ts'
import type { Speed } from '../../speed.ts'
import { DEFAULT_FEE_LIMIT_MULTIPLIER, type EvmDraft, type EvmRequest, type Fees } from '../content.ts'
import { readCount } from '../read/quantity.ts'
import type { EvmAccount, EvmAttempt, EvmPrepared } from '../types.ts'
import {
  belowLeast,
  capped,
  ceilingOf,
  describeFees,
  describeFloor,
  explicitFees,
  type Floor,
  feeLimit,
  isWithin,
  type Market,
  marketFees,
  type PriceFloor,
  type Pricing,
  raisedTo,
  reaches,
  replacementFloor,
} from './fees.ts'
import {
  chooseNoopTarget,
  type EstimateContext,
  estimateWithSecondOpinion,
  gasCallOf,
  isDoubtfulLimit,
  withinLimit,
  withoutMargin,
} from './gas.ts'
import type { GasLimitsMemory } from './node-limits.ts'

export interface PrepareContext extends EstimateContext {
  readonly market: () => Promise<Answer<Market>>
  /** The network has EIP-1559 fees. */
  readonly eip1559: boolean
  /**
   * The configured maximum gas of a transaction (EIP-7825); absent if only the block's limit counts. Forks change it, so the node's
   * estimate overrules it.
   */
  readonly maxGas?: bigint | undefined
  /** Reads the fees besides gas; absent if a network has none. */
  readonly rollupFee?: ((draft: EvmDraft) => Promise<Answer<bigint>>) | undefined
  /** Reads the lowest price of exactly this content, on networks where it depends on the content; undefined without a reply. */
  readonly quote?: ((request: EvmRequest, from: string) => Promise<PriceFloor | undefined>) | undefined
  readonly gasLimits: GasLimitsMemory
}

/** Prepares prices and gas for a first attempt. A market price above the cap is lowered to the cap, and the logs say so. */
export async function prepareDraft(
  context: PrepareContext,
  {
    request: asked,
    account,
    knownGas,
  }: { request: EvmRequest; account: EvmAccount; knownGas?: bigint | undefined },
): Promise<Answer<EvmPrepared>> {
  const targeted = await chooseNoopTarget(context.client, asked, account.policies)
  if (targeted.kind !== 'ok') return targeted
  const request = targeted.value
  const [market, gas] = await Promise.all([
    marketFor(context, request, account),
    gasFor(context, request, account, knownGas),
  ])
  if (market.kind !== 'ok') return market
  if (gas.kind !== 'ok') return gas
  const pricing = pricingOf(context, account)
  const wanted = explicitFees(request) ?? marketFees(market.value, request.speed, pricing)
  const fees = capped(wanted, account.policies.gasPriceCap)
  const logs =
    fees === wanted
      ? []
      : [`The market price (${describeFees(wanted)}) is above gas_price_cap; the cap is used.`]
  const parts = { request, gas: gas.value, fees, market: market.value, limits: context, logs }
  return withRollupFee(
    context,
    explicitFees(request) === undefined ? finishBelowMaximum(parts) : finishAtOwnPrice(parts, pricing),
  )
}

/** Below the base fee, or the minimum of the pools, bytes would only hold a nonce, and with it the account. */
function finishAtOwnPrice(parts: Parts, pricing: Pricing): Answer<EvmPrepared> {
  const finished = finish(parts)
  const below = belowLeast(parts.fees, parts.market, pricing)
  if (finished.kind !== 'ok' || below === undefined) return finished
  const awaitsPrice = `Waiting for its price: ${below}. It is signed when a block can include it; until then others overtake it.`
  return {
    kind: 'ok',
    value: { ...finished.value, awaitsPrice, logs: [...finished.value.logs, awaitsPrice] },
  }
}

async function withRollupFee(
  { rollupFee: read }: PrepareContext,
  prepared: Answer<EvmPrepared>,
): Promise<Answer<EvmPrepared>> {
  if (read === undefined || prepared.kind !== 'ok') return prepared
  const fee = await read(prepared.value.draft)
  if (fee.kind !== 'ok') return fee
  const { draft, ...others } = prepared.value
  return { kind: 'ok', value: { ...others, draft: { ...draft, rollupFee: fee.value } } }
}

/**
 * Endpoints refuse whole fees above a maximum (geth's `--rpc.txfeecap`). The service lowers the price to it while the next block would
 * still accept it; otherwise the transaction waits for a cheaper market or for another endpoint.
 */
function finishBelowMaximum(parts: Parts): Answer<EvmPrepared> {
  const { gas, fees, market, logs } = parts
  const { maximumFee } = market
  if (maximumFee === undefined || gas * ceilingOf(fees) <= maximumFee) return finish(parts)
  const price = maximumFee / gas
  const least = market.baseFee ?? market.gasPrice
  if (price < least) {
    const detail = `no endpoint accepts a transaction with a fee above ${maximumFee} wei (geth's --rpc.txfeecap), and ${gas} gas cost at least ${gas * least} wei now`
    return { kind: 'unknown', detail }
  }
  const lowered = capped(fees, price)
  const log = `The fee is lowered to ${describeFees(lowered)}: no endpoint accepts more than ${maximumFee} wei.`
  return finish({ ...parts, fees: lowered, logs: [...logs, log] })
}

interface Replacement {
  readonly request: EvmRequest
  readonly attempts: readonly EvmAttempt[]
  readonly account: EvmAccount
  /** This is an automatic raise, so its limit applies. */
  readonly isRaise?: boolean
  /** A block that the service has seen, which may be newer than the one of the market. */
  readonly seenBlock?: bigint | undefined
}

/**
 * Prepares prices and gas for an attempt that replaces others. Explicit prices are used exactly or refused; otherwise the service takes the
 * higher of the market and 110 % of the attempts in the pool.
 */
export async function prepareReplacement(
  context: PrepareContext,
  { request: asked, attempts, account, isRaise = false, seenBlock }: Replacement,
): Promise<Answer<EvmPrepared>> {
  const floor = replacementFloor(attempts)
  if (floor === undefined) return prepareDraft(context, { request: asked, account })
  const targeted = await chooseNoopTarget(context.client, asked, account.policies)
  if (targeted.kind !== 'ok') return targeted
  const request = targeted.value
  const explicit = explicitFees(request)
  if (explicit && !reaches(explicit, floor)) return { kind: 'refused', refusal: underpriced(explicit, floor) }
  const [market, gas] = await Promise.all([
    marketFor(context, request, account),
    gasFor(context, request, account),
  ])
  if (market.kind !== 'ok') return market
  if (gas.kind !== 'ok') return gas
  const pricing = pricingOf(context, account)
  const marketPrice = capped(marketFees(market.value, request.speed, pricing), account.policies.gasPriceCap)
  const fees = explicit ?? raisedTo(marketPrice, floor)
  const refusal =
    aboveCap(fees, account) ??
    (isRaise ? aboveLimit(fees, { market: market.value, request, pricing }) : undefined)
  if (refusal) return { kind: 'refused', refusal }
  const logs = explicit
    ? []
    : [`The fees are now ${describeFees(fees)}; a node requires at least ${describeFloor(floor, fees.kind)}.`]
  const known = { ...market.value, block: noOlder(market.value.block, attempts, seenBlock) }
  const parts = { request, gas: gas.value, fees, market: known, limits: context, logs }
  return withRollupFee(context, finish(parts))
}

/** The block of the market, with a number that is not below any block that the service has seen for this transaction. */
function noOlder(
  block: Market['block'],
  attempts: readonly EvmAttempt[],
  seenBlock: bigint | undefined,
): Market['block'] {
  const seen = attempts.map(({ draft }) => draft.preparedAtBlock ?? 0n).reduce(larger, seenBlock ?? 0n)
  return block && { ...block, number: larger(block.number, seen) }
}

interface SpeedUp {
  readonly attempts: readonly EvmAttempt[]
  readonly level: Speed
  readonly account: EvmAccount
  readonly seenBlock?: bigint | undefined
}

/**
 * Prepares the content of the last attempt at a fee that follows the market and replaces the attempts in the pool; refuses what is above the
 * limit of the service's own raises.
 */
export async function prepareSpeedUp(
  context: PrepareContext,
  { attempts, level, account, seenBlock }: SpeedUp,
): Promise<Answer<EvmPrepared>> {
  const last = attempts.at(-1)
  if (last === undefined) return { kind: 'unknown', detail: 'there is no attempt to raise' }
  const { fees: _, preparedAtBlock: __, ...content } = last.draft
  const request = { ...content, speed: level }
  return prepareReplacement(context, { request, attempts, account, isRaise: true, seenBlock })
}

/** Returns how the service prices what this account sends. */
function pricingOf(
  { eip1559 }: Pick<PrepareContext, 'eip1559'>,
  { policies: { eip1559Pricing, feeLimitMultiplier } }: EvmAccount,
): Pricing {
  return { eip1559: eip1559 && eip1559Pricing !== false, feeLimitMultiplier }
}

/** Reads the market, with the price of exactly this content if the network returns one. A caller's price needs none. */
async function marketFor(
  { market, quote }: PrepareContext,
  request: EvmRequest,
  { address }: EvmAccount,
): Promise<Answer<Market>> {
  const asked = explicitFees(request) === undefined ? quote?.(request, address) : undefined
  const [answer, quoted] = await Promise.all([market(), asked])
  if (answer.kind !== 'ok' || quoted === undefined) return answer
  return { kind: 'ok', value: { ...answer.value, quote: quoted } }
}

async function gasFor(
  context: PrepareContext,
  request: EvmRequest,
  account: EvmAccount,
  knownGas?: bigint,
): Promise<Answer<bigint>> {
  if (request.gasLimit === undefined) return chosenGas(context, request, { account, knownGas })
  const { gasLimit } = request
  if (!isDoubtfulLimit(request, gasLimit, context.maxGas)) return { kind: 'ok', value: gasLimit }
  const estimate = await estimateWithSecondOpinion(context, request, account.address)
  if (estimate.kind !== 'ok') return estimate
  const needed = withoutMargin(estimate.value)
  const { maxGas } = context
  // A call that needs more than the configured maximum proves that this network no longer has that limit.
  if (maxGas !== undefined && gasLimit > maxGas && needed <= maxGas) {
    const detail = `gas_limit: at most ${maxGas} is expected, the most of one transaction on this network; ${gasLimit} was given, and ${needed} is enough.`
    return { kind: 'refused', refusal: { code: 'gas_limit_too_high', detail } }
  }
  return gasLimit < needed
    ? tryLimit(context, { request, from: account.address, gasLimit, needed })
    : { kind: 'ok', value: gasLimit }
}

/** The gas limit that the service chooses: an estimate, and no less than nodes have demanded for this content. */
async function chosenGas(
  context: PrepareContext,
  request: EvmRequest,
  { account, knownGas }: { readonly account: EvmAccount; readonly knownGas: bigint | undefined },
): Promise<Answer<bigint>> {
  const estimate: Answer<bigint> =
    knownGas === undefined
      ? await estimateWithSecondOpinion(context, request, account.address)
      : { kind: 'ok', value: knownGas }
  if (estimate.kind !== 'ok') return estimate
  const { to, value, data = '0x' } = request
  const least = context.gasLimits.leastFor({ ...(to !== undefined && { to }), value, data })
  return { kind: 'ok', value: larger(estimate.value, least) }
}

/** Estimates may be higher than the need (geth stops its search at 1.5 %), so the node tries the call with this limit before it is refused. */
async function tryLimit(
  { client }: PrepareContext,
  { request, from, gasLimit, needed }: LimitedCall,
): Promise<Answer<bigint>> {
  const call = { ...gasCallOf(request, from), gas: numberToHex(gasLimit) }
  const reply = await client.call('eth_estimateGas', [call])
  if (reply.kind === 'unknown') return reply
  // anvil returns the gas of a plain transfer regardless of the limit.
  const used = reply.kind === 'result' ? readCount(reply.result) : undefined
  if (used !== undefined && used <= gasLimit) return { kind: 'ok', value: gasLimit }
  const detail = `gas_limit: at least ${needed} is expected, by the estimate of the network; ${gasLimit} was given.`
  return { kind: 'refused', refusal: { code: 'gas_limit_too_low', detail } }
}

interface LimitedCall {
  readonly request: EvmRequest
  readonly from: string
  readonly gasLimit: bigint
  /** The estimate without its margin. */
  readonly needed: bigint
}

interface Parts {
  readonly request: EvmRequest
  readonly gas: bigint
  readonly fees: Fees
  readonly market: Market
  readonly limits: Pick<PrepareContext, 'maxGas' | 'gasLimits'>
  readonly logs: readonly string[]
}

function finish({ request, gas: wanted, fees, market, limits, logs }: Parts): Answer<EvmPrepared> {
  const { maxGas, gasLimits } = limits
  const most = [maxGas, gasLimits.most()].reduce<bigint>(
    (least, one) => (one === undefined ? least : smaller(least, one)),
    market.blockGasLimit,
  )
  const gas = request.gasLimit === undefined ? withinLimit(wanted, most) : wanted
  const refusal = tooMuchGas(gas, market)
  if (refusal) return { kind: 'refused', refusal }
  const content = {
    type: 'evm' as const,
    value: request.value,
    data: request.data ?? '0x',
    ...listsOf(request),
    gasLimit: gas,
    fees,
    ...(market.block && { preparedAtBlock: market.block.number }),
  }
  const draft: EvmDraft = request.to === undefined ? content : { to: request.to, ...content }
  return {
    kind: 'ok',
    value: request.gasLimit === undefined ? { draft, logs, knownGas: gas } : { draft, logs },
  }
}

/** Legacy prices with an access list make a transaction of type 1, which every network with EIP-1559 fees also accepts. */
function listsOf({
  accessList,
  authorizationList,
}: EvmRequest): Pick<EvmDraft, 'accessList' | 'authorizationList'> {
  return { ...(accessList && { accessList }), ...(authorizationList && { authorizationList }) }
}

function tooMuchGas(gas: bigint, { blockGasLimit }: Market): Refusal | undefined {
  if (gas <= blockGasLimit) return undefined
  return {
    code: 'gas_limit_too_high',
    detail: `gas_limit: at most ${blockGasLimit} is expected, the gas of a whole block; this needs ${gas}.`,
  }
}

function underpriced(fees: Fees, floor: Floor): Refusal {
  return {
    code: 'replacement_underpriced',
    detail: `${describeFees(fees)} would be refused by nodes: at least ${describeFloor(floor, fees.kind)} is expected, 110 % of the attempt that is in the pool.`,
  }
}

interface Raise {
  readonly market: Market
  readonly request: EvmRequest
  readonly pricing: Pricing
}

function aboveLimit(fees: Fees, { market, request, pricing }: Raise): Refusal | undefined {
  if (isWithin(fees, feeLimit(market, request.speed, pricing))) return undefined
  const { feeLimitMultiplier: times = DEFAULT_FEE_LIMIT_MULTIPLIER } = pricing
  return {
    code: 'gas_price_above_cap',
    detail: `it needs ${describeFees(fees)}, which is above ${times} times the current market of ${describeFees(marketFees(market, request.speed, pricing))} (fee_limit_multiplier).`,
  }
}

function aboveCap(fees: Fees, { policies }: EvmAccount): Refusal | undefined {
  if (policies.gasPriceCap === undefined || ceilingOf(fees) <= policies.gasPriceCap) return undefined
  return {
    code: 'gas_price_above_cap',
    detail: `A replacement needs ${describeFees(fees)}, which is above the relayer's gas_price_cap of ${policies.gasPriceCap} wei.`,
  }
}
