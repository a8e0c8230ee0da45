import type { Refusal } from '../../answer.ts'
import { checkAuthorizationList } from '../authorization.ts'
import type { EvmRequest } from '../content.ts'
import type { EvmAccount, FeeMarket } from '../types.ts'
import { ceilingOf, describeFees, explicitFees } from './fees.ts'
import { leastIntrinsicGas } from './gas.ts'

/**
 * No fork accepts a contract creation with more init code, in bytes (geth `MaxInitCodeSizeAmsterdam`). Below
 * it, the node decides.
 */
const MAX_INIT_CODE = 131_072

type Rule = (request: EvmRequest, account: EvmAccount, network: FeeMarket) => Refusal | undefined

/** Applies the rules that need no network, and returns the first refusal. */
export function checkRequest(
  request: EvmRequest,
  account: EvmAccount,
  network: FeeMarket,
): Refusal | undefined {
  for (const rule of RULES) {
    const refusal = rule(request, account, network)
    if (refusal) return refusal
  }
  return undefined
}

const RULES: readonly Rule[] = [
  target,
  initCode,
  onePricing,
  bothFees,
  tipWithinFee,
  typeSupported,
  withinCap,
  checkGasPresent,
  gasEnough,
  checkAuthorizationList,
]

function target({ to, data }: EvmRequest): Refusal | undefined {
  if (to !== undefined || (data !== undefined && data !== '0x')) return undefined
  return invalid('to: an address is expected, or data with the init code of a contract to create.')
}

function initCode({ to, data }: EvmRequest): Refusal | undefined {
  const bytes = ((data?.length ?? 2) - 2) / 2
  if (to !== undefined || bytes <= MAX_INIT_CODE) return undefined
  return invalid(`data: init code has ${bytes} bytes, at most ${MAX_INIT_CODE} are allowed.`)
}

function onePricing({
  gasPrice,
  maxFeePerGas,
  maxPriorityFeePerGas,
  speed,
}: EvmRequest): Refusal | undefined {
  const families = [
    gasPrice !== undefined,
    maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined,
    speed !== undefined,
  ].filter(Boolean).length
  if (families <= 1) return undefined
  return invalid(
    'gas_price, max_fee_per_gas with max_priority_fee_per_gas, and speed exclude each other: use only one of the three.',
  )
}

function bothFees({ maxFeePerGas, maxPriorityFeePerGas }: EvmRequest): Refusal | undefined {
  if ((maxFeePerGas === undefined) === (maxPriorityFeePerGas === undefined)) return undefined
  const missing = maxFeePerGas === undefined ? 'max_fee_per_gas' : 'max_priority_fee_per_gas'
  return invalid(`${missing}: expected together with the other EIP-1559 price.`)
}

function tipWithinFee({ maxFeePerGas, maxPriorityFeePerGas }: EvmRequest): Refusal | undefined {
  if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined) return undefined
  if (maxPriorityFeePerGas <= maxFeePerGas) return undefined
  return invalid(`max_priority_fee_per_gas: at most max_fee_per_gas (${maxFeePerGas}) is expected.`)
}

function typeSupported(
  { maxFeePerGas }: EvmRequest,
  _: EvmAccount,
  { eip1559 }: FeeMarket,
): Refusal | undefined {
  if (maxFeePerGas === undefined || eip1559) return undefined
  return {
    code: 'not_supported',
    detail: 'max_fee_per_gas: this network has no EIP-1559 fees; use gas_price or speed.',
  }
}

function withinCap(request: EvmRequest, { policies }: EvmAccount): Refusal | undefined {
  const fees = explicitFees(request)
  if (fees === undefined || policies.gasPriceCap === undefined || ceilingOf(fees) <= policies.gasPriceCap)
    return undefined
  return {
    code: 'gas_price_above_cap',
    detail: `${describeFees(fees)} is above the relayer's gas_price_cap of ${policies.gasPriceCap} wei.`,
  }
}

function checkGasPresent({ gasLimit }: EvmRequest, { policies }: EvmAccount): Refusal | undefined {
  if (gasLimit !== undefined || policies.gasLimitEstimation !== false) return undefined
  return {
    code: 'gas_limit_required',
    detail: 'gas_limit: expected, because gas_limit_estimation is off for this relayer.',
  }
}

function gasEnough(request: EvmRequest): Refusal | undefined {
  const needed = leastIntrinsicGas(request)
  if (request.gasLimit === undefined || request.gasLimit >= needed) return undefined
  return {
    code: 'gas_limit_too_low',
    detail: `gas_limit: at least ${needed} is expected, which every network requires for this content; ${request.gasLimit} was given.`,
  }
}

function invalid(detail: string): Refusal {
  return { code: 'invalid_request', detail }
}
