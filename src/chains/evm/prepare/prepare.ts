import { numberToHex } from 'viem/utils'
import { larger, smaller } from '../../../lib/bigint.ts'
import type { Answer, Refusal } from '../../answer.ts'
import { ALL_IN_TIME } from '../../rpc/agreement.ts'
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
  isNewer,
  isWithin,
  type Market,
  marketFees,
  type PriceFloor,
  type Pricing,
  raisedTo,
  raiseFees,
  reaches,
  replacementFloor,
} from './fees.ts'
import {
  type AgreedEstimate,
  chooseNoopTarget,
  type EstimateContext,
  estimateEverywhere,
  type GasEstimate,
  type GasLimit,
  gasCallOf,
  isDoubtfulLimit,
  limitFor,
} from './gas.ts'
import type { GasLimitsMemory } from './node-limits.ts'

export interface PrepareContext extends EstimateContext {
  /** Returns the time, in ms since the epoch. */
  readonly now: () => number
  readonly market: () => Promise<Answer<Market>>
  /** The network has EIP-1559 fees. */
  readonly eip1559: boolean
  /**
   * The configured maximum gas of a transaction (EIP-7825); absent if only the block's limit counts. Forks
   * change it, so the node's estimate overrules it.
   */
  readonly maxGas?: bigint | undefined
  /** Reads the fees besides gas; absent if a network has none. */
  readonly rollupFee?: ((draft: EvmDraft) => Promise<Answer<bigint>>) | undefined
  /**
   * Reads the lowest price of exactly this content, on networks where it depends on the content; undefined
   * without a reply.
   */
  readonly quote?: ((request: EvmRequest, from: string) => Promise<PriceFloor | undefined>) | undefined
  readonly gasLimits: GasLimitsMemory
  /** The most that one transaction may cost in fees, in wei, unless a policy says otherwise. */
  readonly txFeeCap: bigint
}

/**
 * Prepares prices and gas for a first attempt. A market price above a cap is lowered to it, and the logs say
 * so.
 */
export async function prepareDraft(
  context: PrepareContext,
  {
    request: asked,
    account,
    knownGas,
  }: { request: EvmRequest; account: EvmAccount; knownGas?: bigint | undefined },
): Promise<Answer<EvmPrepared>> {
  const request = await chooseNoopTarget(context.client, asked, account.policies)
  const [market, gas] = await Promise.all([
    marketFor(context, request, account),
    gasFor(context, request, account, knownGas),
  ])
  if (market.kind !== 'ok') return market
  if (gas.kind !== 'ok') return gas
  const pricing = pricingOf(context, account)
  const explicit = explicitFees(request)
  const wanted = explicit ?? marketFees(market.value, request.speed, pricing)
  const fees = capped(wanted, account.policies.gasPriceCap)
  const logs =
    fees === wanted
      ? []
      : [`The market price (${describeFees(wanted)}) is above gas_price_cap; the cap is used.`]
  const finished = await finish(context, { request, gas: gas.value, fees, market: market.value, logs })
  if (finished.kind !== 'ok') return finished
  const bounds = { market: market.value, cap: feeCapOf(context, account) }
  if (explicit !== undefined) return atOwnPrice(finished.value, { ...bounds, pricing })
  const awaitsPrice = awaitedFee(request, market.value, context.now())
  if (awaitsPrice === undefined) return withinFeeBounds(finished.value, bounds)
  return { kind: 'ok', value: { ...finished.value, awaitsPrice, logs: [...logs, awaitsPrice] } }
}

/** Returns the reason to wait for a lower fee of the network; undefined if there is none. Pure. */
function awaitedFee(
  { when, validUntil }: EvmRequest,
  { baseFee, gasPrice }: Market,
  now: number,
): string | undefined {
  const fee = baseFee ?? gasPrice
  if (when === undefined || fee <= when.feeAtMost) return undefined
  const { until } = when
  if (until !== undefined && until.getTime() <= now) return undefined
  const end = until ?? validUntil
  const then = when.atEnd === 'send' ? 'it is sent whatever the fee is' : 'it expires'
  const last = end === undefined ? '' : ` At ${end.toISOString()} ${then}.`
  return `Waiting for a lower fee: it is sent when the network's fee is at most ${when.feeAtMost} wei per gas, and it is ${fee} now. Until then others overtake it.${last}`
}

interface FeeBounds {
  readonly market: Market
  /** The most that the transaction may cost in fees, in wei. */
  readonly cap: bigint
}

/**
 * Below the base fee, or the minimum of the pools, bytes would only hold a nonce, and with it the account.
 */
function atOwnPrice(
  prepared: EvmPrepared,
  { market, cap, pricing }: FeeBounds & { readonly pricing: Pricing },
): Answer<EvmPrepared> {
  const refusal = aboveFeeCap(prepared.draft, cap)
  if (refusal !== undefined) return { kind: 'refused', refusal }
  const below = belowLeast(prepared.draft.fees, market, pricing)
  if (below === undefined) return { kind: 'ok', value: prepared }
  const awaitsPrice = `Waiting for its price: ${below}. It is signed when a block can include it; until then others overtake it.`
  return { kind: 'ok', value: { ...prepared, awaitsPrice, logs: [...prepared.logs, awaitsPrice] } }
}

/** Returns the most that a transaction of this account may cost in fees, in wei. */
function feeCapOf({ txFeeCap }: Pick<PrepareContext, 'txFeeCap'>, { policies }: EvmAccount): bigint {
  return policies.txFeeCap ?? txFeeCap
}

/** Returns the most that the fees of a draft can cost, in wei. */
function mostFee({ gasLimit, fees, rollupFee = 0n }: EvmDraft): bigint {
  return gasLimit * ceilingOf(fees) + rollupFee
}

function aboveFeeCap(draft: EvmDraft, cap: bigint): Refusal | undefined {
  const fee = mostFee(draft)
  if (fee <= cap) return undefined
  const detail = `its fee would be up to ${fee} wei (${draft.gasLimit} gas, ${describeFees(draft.fees)}), and at most ${cap} is allowed by tx_fee_cap.`
  return { code: 'fee_above_cap', detail }
}

/**
 * Lowers the price so that the fee keeps the cap of the relayer (`tx_fee_cap`), and the maximum of the
 * endpoints (geth's `--rpc.txfeecap`), while the next block would still accept it. Otherwise the transaction
 * waits, unsigned, for a cheaper market or for another endpoint.
 */
function withinFeeBounds(prepared: EvmPrepared, { market, cap }: FeeBounds): Answer<EvmPrepared> {
  const { draft, logs } = prepared
  const { maximumFee = cap } = market
  const most = smaller(cap, maximumFee)
  if (mostFee(draft) <= most) return { kind: 'ok', value: prepared }
  const { rollupFee = 0n, gasLimit } = draft
  const price = most > rollupFee ? (most - rollupFee) / gasLimit : 0n
  const least = market.baseFee ?? market.gasPrice
  const fees = capped(draft.fees, price)
  const lowered = { ...prepared, draft: { ...draft, fees } }
  const cost = `${gasLimit} gas cost at least ${gasLimit * least + rollupFee} wei now`
  if (price >= least) {
    const bound =
      cap <= maximumFee ? `tx_fee_cap is ${cap} wei` : `no endpoint accepts more than ${maximumFee} wei`
    return {
      kind: 'ok',
      value: { ...lowered, logs: [...logs, `The fee is lowered to ${describeFees(fees)}: ${bound}.`] },
    }
  }
  if (maximumFee < cap) {
    const detail = `no endpoint accepts a transaction with a fee above ${maximumFee} wei (geth's --rpc.txfeecap), and ${cost}`
    return { kind: 'unknown', detail }
  }
  const awaitsPrice = `Waiting for a lower price: ${cost}, and tx_fee_cap allows ${cap}. It is signed when a block can include it for that; until then others overtake it.`
  return { kind: 'ok', value: { ...lowered, awaitsPrice, logs: [...logs, awaitsPrice] } }
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
 * Prepares prices and gas for an attempt that replaces others. Explicit prices are used exactly or refused;
 * otherwise the service takes the higher of the market and 110 % of the attempts in the pool.
 */
export async function prepareReplacement(
  context: PrepareContext,
  { request: wanted, attempts, account, isRaise = false, seenBlock }: Replacement,
): Promise<Answer<EvmPrepared>> {
  const floor = replacementFloor(attempts)
  if (floor === undefined) return prepareDraft(context, { request: wanted, account })
  const request = await chooseNoopTarget(context.client, wanted, account.policies)
  const explicit = explicitFees(request)
  if (explicit && !reaches(explicit, floor)) return { kind: 'refused', refusal: underpriced(explicit, floor) }
  const [market, gas] = await Promise.all([
    marketFor(context, request, account),
    gasFor(context, request, account),
  ])
  if (market.kind !== 'ok') return market
  if (gas.kind !== 'ok') return gas
  const pricing = pricingOf(context, account)
  const asked = (isRaise ? raiseFees : marketFees)(market.value, request.speed, pricing)
  const marketPrice = capped(asked, account.policies.gasPriceCap)
  const fees = explicit ?? raisedTo(marketPrice, floor)
  const aboveLimits =
    aboveCap(fees, account) ??
    (isRaise ? aboveLimit(fees, { market: market.value, request, pricing }) : undefined)
  if (aboveLimits) return { kind: 'refused', refusal: aboveLimits }
  const logs = explicit
    ? []
    : [`The fees are now ${describeFees(fees)}; a node requires at least ${describeFloor(floor, fees.kind)}.`]
  const known = { ...market.value, block: noOlder(market.value.block, attempts, seenBlock) }
  const finished = await finish(context, { request, gas: gas.value, fees, market: known, logs })
  if (finished.kind !== 'ok') return finished
  const refusal = aboveFeeCap(finished.value.draft, feeCapOf(context, account))
  return refusal ? { kind: 'refused', refusal } : finished
}

/**
 * The block of the market, with a number that is not below any block that the service has seen for this
 * transaction.
 */
function noOlder(
  block: Market['block'],
  attempts: readonly EvmAttempt[],
  seenBlock: bigint | undefined,
): Market['block'] {
  const seen = attempts.map(({ draft }) => draft.preparedAtBlock ?? 0n).reduce(larger, seenBlock ?? 0n)
  return block && { ...block, number: isNewer(block.number, seen) ? block.number : seen }
}

interface SpeedUp {
  readonly attempts: readonly EvmAttempt[]
  readonly level: Speed
  readonly account: EvmAccount
  readonly seenBlock?: bigint | undefined
}

/**
 * Prepares the content of the last attempt at a fee that follows the market and replaces the attempts in the
 * pool; refuses what is above the limit of the service's own raises.
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

/**
 * Reads the market, with the price of exactly this content if the network returns one. A caller's price needs
 * none.
 */
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

/**
 * The gas of a transaction: the limit that the caller named, or the estimate from which the service makes
 * one.
 */
type Gas =
  | { readonly kind: 'named'; readonly limit: GasLimit }
  | { readonly kind: 'estimated'; readonly estimate: AgreedEstimate }

async function gasFor(
  context: PrepareContext,
  request: EvmRequest,
  account: EvmAccount,
  knownGas?: bigint,
): Promise<Answer<Gas>> {
  const { gasLimit } = request
  if (gasLimit === undefined) return chosenGas(context, request, { account, knownGas })
  const named = { kind: 'ok', value: { kind: 'named', limit: gasLimit as GasLimit } } as const
  if (!isDoubtfulLimit(request, gasLimit, context.maxGas)) return named
  const estimate = await estimateEverywhere(context, request, account.address)
  if (estimate.kind !== 'ok') return estimate
  const needed = estimate.value.lower
  const { maxGas } = context
  // A call that needs more than the configured maximum proves that this network no longer has that limit.
  if (maxGas !== undefined && gasLimit > maxGas && needed <= maxGas) {
    const detail = `gas_limit: at most ${maxGas} is expected, the most of one transaction on this network; ${gasLimit} was given, and ${needed} is enough.`
    return { kind: 'refused', refusal: { code: 'gas_limit_too_high', detail } }
  }
  if (gasLimit >= needed) return named
  const refusal = await tryLimit(context, { request, from: account.address, gasLimit, needed })
  return refusal ?? named
}

async function chosenGas(
  context: PrepareContext,
  request: EvmRequest,
  { account, knownGas }: { readonly account: EvmAccount; readonly knownGas: bigint | undefined },
): Promise<Answer<Gas>> {
  if (knownGas !== undefined) {
    const known = knownGas as GasEstimate
    return { kind: 'ok', value: { kind: 'estimated', estimate: { higher: known, lower: known } } }
  }
  const estimate = await estimateEverywhere(context, request, account.address)
  return estimate.kind === 'ok'
    ? { kind: 'ok', value: { kind: 'estimated', estimate: estimate.value } }
    : estimate
}

/**
 * Estimates may be higher than the need (geth stops its search at 1.5 %), so the nodes try the call with this
 * limit before it is refused. One that succeeds is enough.
 */
async function tryLimit(
  { client }: PrepareContext,
  { request, from, gasLimit, needed }: LimitedCall,
): Promise<Exclude<Answer<never>, { kind: 'ok' }> | undefined> {
  const call = { ...gasCallOf(request, from), gas: numberToHex(gasLimit) }
  const endpoints = await client.sendEverywhere(
    [{ method: 'eth_estimateGas', params: [call] }],
    undefined,
    ALL_IN_TIME,
  )
  const replies = endpoints.flatMap(([answer]) => answer?.reply ?? [])
  // anvil returns the gas of a plain transfer regardless of the limit.
  const used = replies.map((reply) => (reply.kind === 'result' ? readCount(reply.result) : undefined))
  if (used.some((gas) => gas !== undefined && gas <= gasLimit)) return undefined
  if (replies.every(({ kind }) => kind === 'unknown'))
    return { kind: 'unknown', detail: 'no endpoint answered with a gas estimate' }
  const detail = `gas_limit: at least ${needed} is expected, by the estimate of the network; ${gasLimit} was given.`
  return { kind: 'refused', refusal: { code: 'gas_limit_too_low', detail } }
}

interface LimitedCall {
  readonly request: EvmRequest
  readonly from: string
  readonly gasLimit: bigint
  readonly needed: GasEstimate
}

interface Parts {
  readonly request: EvmRequest
  readonly gas: Gas
  readonly fees: Fees
  readonly market: Market
  readonly logs: readonly string[]
}

async function finish(
  context: PrepareContext,
  { request, gas, fees, market, logs }: Parts,
): Promise<Answer<EvmPrepared>> {
  const gasLimit =
    gas.kind === 'named' ? gas.limit : limitOf(context, { request, estimate: gas.estimate, market })
  const refusal = tooMuchGas(context, gasLimit, market)
  if (refusal) return refusal
  const content = {
    type: 'evm' as const,
    value: request.value,
    data: request.data ?? '0x',
    ...listsOf(request),
    gasLimit,
    fees,
    ...(market.block && { preparedAtBlock: market.block.number }),
  }
  const draft = await withRollupFee(
    context,
    request.to === undefined ? content : { to: request.to, ...content },
  )
  if (draft.kind !== 'ok') return draft
  const prepared = { draft: draft.value, logs }
  return {
    kind: 'ok',
    value:
      gas.kind === 'named' ? prepared : { ...prepared, knownGas: estimateWithin(gas.estimate, gasLimit) },
  }
}

async function withRollupFee({ rollupFee }: PrepareContext, draft: EvmDraft): Promise<Answer<EvmDraft>> {
  if (rollupFee === undefined) return { kind: 'ok', value: draft }
  const fee = await rollupFee(draft)
  return fee.kind === 'ok' ? { kind: 'ok', value: { ...draft, rollupFee: fee.value } } : fee
}

/** Returns the estimate from which this limit was made. */
function estimateWithin({ higher, lower }: AgreedEstimate, limit: GasLimit): GasEstimate {
  return higher <= limit ? higher : lower
}

/**
 * Returns the gas limit that the service chooses: an estimate with its margin, and no less than nodes have
 * demanded for this content.
 */
function limitOf(
  { maxGas, gasLimits }: Pick<PrepareContext, 'maxGas' | 'gasLimits'>,
  {
    request: { to, value, data = '0x' },
    estimate,
    market,
  }: { readonly request: EvmRequest; readonly estimate: AgreedEstimate; readonly market: Market },
): GasLimit {
  const least = gasLimits.leastFor({ ...(to !== undefined && { to }), value, data })
  const most = [maxGas, gasLimits.most()].reduce<bigint>(
    (lowest, one) => (one === undefined ? lowest : smaller(lowest, one)),
    market.blockGasLimit,
  )
  return limitFor(estimate, { least, most })
}

/**
 * Legacy prices with an access list make a transaction of type 1, which every network with EIP-1559 fees also
 * accepts.
 */
function listsOf({
  accessList,
  authorizationList,
}: EvmRequest): Pick<EvmDraft, 'accessList' | 'authorizationList'> {
  return { ...(accessList && { accessList }), ...(authorizationList && { authorizationList }) }
}

/**
 * Refuses gas that no block has room for. Several endpoints have agreed on the room; the only endpoint of a
 * network is believed when it has said so for a while.
 */
function tooMuchGas(
  { simulations, client }: Pick<PrepareContext, 'simulations' | 'client'>,
  gas: GasLimit,
  { blockGasLimit, block }: Market,
): Exclude<Answer<never>, { kind: 'ok' }> | undefined {
  if (gas <= blockGasLimit) return undefined
  const detail = `gas_limit: at most ${blockGasLimit} is expected, the gas of a whole block; this needs ${gas}.`
  const refused = { kind: 'refused', refusal: { code: 'gas_limit_too_high', detail } } as const
  if (client.states().length > 1) return refused
  const opinion = { answer: refused, head: block?.number ?? 0n, behind: false }
  const settled = simulations.settle<never>({ gas }, [opinion])
  return settled.kind === 'ok' ? undefined : settled
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
