import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { EvmDraft, EvmRequest } from '../../chains/evm/content.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'
import { presentCommonAttempt, requireNonce } from './attempt.ts'

interface Parts {
  readonly request: EvmRequest
  readonly shown: Attempt | undefined
  /** Absent for a relayer that was removed. */
  readonly chain: Pick<Chain, 'speed'> | undefined
}

/** The fields that only EVM transactions have: the content of the shown attempt, or the request while nothing is signed. */
export function presentEvmContent(transaction: Transaction, { request, shown, chain }: Parts) {
  const content = shown?.draft.type === 'evm' ? presentDraft(shown.draft) : presentRequest(request)
  const { nonce, isPrivate, madePublicAt } = transaction
  return {
    network_type: 'evm' as const,
    nonce,
    private: isPrivate === true ? (true as const) : undefined,
    made_public_at: madePublicAt?.toISOString(),
    ...content,
    speed: presentSpeed(request, chain),
  }
}

/** Tells whether an attempt was signed for an EVM network. */
export function isEvmAttempt(attempt: Attempt): attempt is Attempt<EvmDraft> {
  return attempt.draft.type === 'evm'
}

/** An attempt on an EVM network as the contract shows it. */
export function presentEvmAttempt(attempt: Attempt<EvmDraft>): Schemas['EvmAttempt'] {
  const nonce = requireNonce(attempt)
  return omitUndefined({ ...presentCommonAttempt(attempt), nonce, ...presentDraft(attempt.draft) })
}

function presentRequest(request: EvmRequest) {
  return {
    to: request.to,
    value: String(request.value),
    data: request.data,
    ...presentLists(request),
    gas_limit: request.gasLimit,
    gas_price: request.gasPrice?.toString(),
    max_fee_per_gas: request.maxFeePerGas?.toString(),
    max_priority_fee_per_gas: request.maxPriorityFeePerGas?.toString(),
  }
}

function presentDraft({ to, value, data, gasLimit, fees, ...lists }: EvmDraft) {
  const prices =
    fees.kind === 'legacy'
      ? { gas_price: String(fees.gasPrice) }
      : {
          max_fee_per_gas: String(fees.maxFeePerGas),
          max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
        }
  return { to, value: String(value), data, ...presentLists(lists), gas_limit: gasLimit, ...prices }
}

function presentLists({ accessList, authorizationList }: Pick<EvmDraft, 'accessList' | 'authorizationList'>) {
  return {
    access_list: accessList?.map(({ address, storageKeys }) => ({ address, storage_keys: storageKeys })),
    authorization_list: authorizationList?.map(({ chainId, yParity, ...signed }) => ({
      ...signed,
      chain_id: chainId,
      y_parity: yParity,
    })),
  }
}

function presentSpeed({ speed: level }: EvmRequest, chain: Parts['chain']) {
  if (level === undefined || chain === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}
