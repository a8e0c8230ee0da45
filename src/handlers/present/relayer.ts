import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { maskUrl } from '../../networks/mask-url.ts'
import { writePoliciesOf } from '../../relayers/policies/policies.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'

/** Converts a relayer to the form of the contract. A removed relayer has no runtime, so the answer lacks its channels. */
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
    policies: writePoliciesOf(relayer),
    channels: channels.length === 0 ? undefined : channels.map(({ address }) => address),
  })
}
