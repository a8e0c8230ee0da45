import type { Selectable } from 'kysely'
import { changedFields } from '../audit/entry.ts'
import type { RelayersTable } from '../database/tables/relayers.ts'
import { maskUrl } from '../lib/http/mask-url.ts'
import { omitUndefined } from '../lib/object.ts'
import { parseNetworkType } from '../networks/network.ts'
import { writeAccounts } from './accounts/pool.ts'
import { decodePoliciesOf, hasChannels, writePoliciesOf } from './policies/policies.ts'
import { encodePolicies } from './policies/policy-table.ts'
import {
  channelsOf,
  DISABLED_REASONS,
  type DisabledReason,
  parseChannels,
  type Relayer,
  type RelayerConfig,
  type RelayerOf,
} from './relayer.ts'

type Row = Selectable<RelayersTable>
type Shared = Omit<RelayerOf<'evm'>, 'networkType' | 'policies'>

/** The part of a relayer that the configuration and its signer decide; the service owns the other fields. */
export type ConfiguredRelayer = RelayerConfig & Pick<Relayer, 'address'>

/**
 * Decodes a row of the table `relayers`.
 * @throws Error for a value that this release does not know: every guess would operate the account by the
 * wrong rules
 */
export function toRelayer(row: Row): Relayer {
  try {
    const networkType = parseNetworkType(row.network_type)
    const policies = decodePoliciesOf(networkType, row.policies)
    const channels =
      row.channels !== null && hasChannels(networkType) ? parseChannels(row.channels) : undefined
    // A type and its policies belong together, which the compiler does not see of a type that is read.
    return { ...sharedOf(row), networkType, policies, ...omitUndefined({ channels }) } as Relayer
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`stored relayer "${row.id}" cannot be read: ${problem}`, { cause })
  }
}

function sharedOf(row: Row): Shared {
  return {
    id: row.id,
    name: row.name,
    network: row.network,
    address: row.address,
    signerId: row.signer_id,
    paused: row.paused,
    systemDisabled: row.system_disabled,
    ...(row.notification_id !== null && { notificationId: row.notification_id }),
    ...(row.disabled_reason && { disabledReason: parseDisabledReason(row.disabled_reason) }),
    ...(row.custom_rpc_urls && { customRpcUrls: row.custom_rpc_urls }),
    ...(row.accounts && { accounts: row.accounts }),
    ...(row.account_index !== null && { accountIndex: row.account_index }),
    ...(row.draining && { draining: true }),
  }
}

function parseDisabledReason({ type, details }: { type: string; details: string }): DisabledReason {
  return { type: parseDisabledType(type), details }
}

/** @throws Error for a type that this release does not know */
export function parseDisabledType(text: string): DisabledReason['type'] {
  const type = DISABLED_REASONS.find((known) => known === text)
  if (type === undefined) throw new Error(`stored disabled reason has the unknown type "${text}"`)
  return type
}

/** Encodes the columns that the configuration decides. */
export function columnsOf(relayer: ConfiguredRelayer) {
  const channels = channelsOf(relayer)
  return {
    name: relayer.name,
    network: relayer.network,
    network_type: relayer.networkType,
    address: relayer.address,
    signer_id: relayer.signerId,
    notification_id: relayer.notificationId ?? null,
    paused: relayer.paused,
    policies: encodePolicies(relayer.policies),
    custom_rpc_urls: relayer.customRpcUrls ? JSON.stringify(relayer.customRpcUrls) : null,
    channels: channels === 0 ? null : JSON.stringify(channels),
    accounts: relayer.accounts ? JSON.stringify(relayer.accounts) : null,
    account_index: relayer.accountIndex ?? null,
    removed_at: null,
  }
}

/**
 * Gives the form of a relayer that answers and the audit log may show, by the names of the contract. Urls are
 * masked.
 */
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

/**
 * Gives the form of a relayer in the audit log: with the channels as requested, and without what the service
 * itself decides.
 */
export function auditedRelayer(relayer: Relayer): object {
  const { system_disabled, disabled_reason, ...shown } = shownRelayer(relayer)
  const channels = channelsOf(relayer)
  const { accounts } = relayer
  return {
    ...shown,
    ...(channels !== 0 && { channels }),
    ...(accounts && { accounts: writeAccounts(accounts) }),
  }
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
