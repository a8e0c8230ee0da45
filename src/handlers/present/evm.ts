import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { EvmDraft, EvmRequest } from '../../chains/evm/content.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'

interface Parts {
  readonly request: EvmRequest
  readonly shown: Attempt | undefined
  /** Absent for a relayer that was removed. */
  readonly chain: Pick<Chain, 'speed'> | undefined
}

/** What only EVM transactions show: the content of the shown attempt, or what was asked for while nothing is signed. */
export function presentEvmContent({ nonce }: Transaction, { request, shown, chain }: Parts) {
  const content = shown?.draft.type === 'evm' ? presentDraft(shown.draft) : presentRequest(request)
  return { nonce, ...content, speed: presentSpeed(request, chain) }
}

/** What only attempts on EVM show. */
export function presentEvmAttempt({ nonce }: Attempt, draft: EvmDraft) {
  return { nonce, ...presentDraft(draft) }
}

function presentRequest(request: EvmRequest) {
  return {
    to: request.to,
    value: String(request.value),
    data: request.data,
    gas_limit: request.gasLimit,
    gas_price: request.gasPrice?.toString(),
    max_fee_per_gas: request.maxFeePerGas?.toString(),
    max_priority_fee_per_gas: request.maxPriorityFeePerGas?.toString(),
  }
}

function presentDraft({ to, value, data, gasLimit, fees }: EvmDraft) {
  const prices =
    fees.kind === 'legacy'
      ? { gas_price: String(fees.gasPrice) }
      : {
          max_fee_per_gas: String(fees.maxFeePerGas),
          max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
        }
  return { to, value: String(value), data, gas_limit: gasLimit, ...prices }
}

function presentSpeed({ speed: level }: EvmRequest, chain: Parts['chain']) {
  if (level === undefined || chain === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}
