import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { maskUrl } from '../../networks/mask-url.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import { presentSolanaPolicies } from './solana.ts'

/** A relayer as the contract shows it; without an operator, for one that was removed, without its channels. */
export function presentRelayer(
  relayer: Relayer,
  runtime: Pick<RelayerRuntime, 'sourceAccounts'> | undefined,
): Schemas['Relayer'] {
  const [, ...channels] = runtime?.sourceAccounts ?? []
  return omitUndefined({
    id: relayer.id,
    name: relayer.name,
    network: relayer.network,
    network_type: relayer.networkType,
    address: relayer.address,
    signer_id: relayer.signerId,
    notification_id: relayer.notificationId,
    paused: relayer.paused,
    system_disabled: relayer.systemDisabled,
    disabled_reason: relayer.disabledReason,
    custom_rpc_urls: relayer.customRpcUrls?.map(({ url, weight }) => ({ url: maskUrl(url), weight })),
    policies: presentPolicies(relayer),
    channels: channels.length === 0 ? undefined : channels.map(({ address }) => address),
  })
}

/** Without those that are not set. */
export function presentPolicies(relayer: Relayer): Schemas['RelayerPolicies'] {
  if (relayer.networkType === 'stellar') {
    const { minBalance, maxFee, timeoutSeconds } = relayer.policies
    return omitUndefined({
      min_balance: minBalance,
      max_fee: maxFee,
      timeout_seconds: timeoutSeconds,
      allowed_rpc_methods: relayer.policies.allowedRpcMethods,
    })
  }
  if (relayer.networkType === 'solana') return presentSolanaPolicies(relayer.policies)
  const { policies } = relayer
  return omitUndefined({
    eip1559_pricing: policies.eip1559Pricing,
    gas_limit_estimation: policies.gasLimitEstimation,
    gas_price_cap: policies.gasPriceCap,
    min_balance: policies.minBalance,
    private_transactions: policies.privateTransactions,
    whitelist_receivers: policies.whitelistReceivers,
    allowed_rpc_methods: policies.allowedRpcMethods,
  })
}
