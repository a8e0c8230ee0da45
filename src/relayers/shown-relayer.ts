import { changedFields } from '../audit/changed-fields.ts'
import { maskUrl } from '../networks/mask-url.ts'
import { channelsOf } from './channels.ts'
import { writePoliciesOf } from './policies/policies.ts'
import type { Relayer } from './relayer.ts'

/** Gives the form of a relayer that answers and the audit log may show, by the names of the contract. Urls are masked. */
export function shownRelayer(relayer: Relayer) {
  return {
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
  }
}

/** Gives the form of a relayer in the audit log: with the channels as they were asked for, and without what the service itself decides. */
export function auditedRelayer(relayer: Relayer): object {
  const { system_disabled, disabled_reason, ...shown } = shownRelayer(relayer)
  const channels = channelsOf(relayer)
  return { ...shown, ...(channels !== 0 && { channels }) }
}

/** Gives the fields that a change of a relayer changed, for the audit log. */
export function relayerChanges(before: Relayer, after: Relayer) {
  return changedFields({
    before,
    after,
    show: auditedRelayer,
    compared: (relayer) => ({ ...auditedRelayer(relayer), custom_rpc_urls: relayer.customRpcUrls }),
  })
}
