import { flag, id, openReader, type Reader, text } from '../lib/fields.ts'
import { omitUndefined } from '../lib/object.ts'
import { isNetworkType, NETWORK_TYPES, type NetworkType } from '../networks/network.ts'
import { readRpcUrls } from '../networks/read-urls.ts'
import { readAccounts, writeAccounts } from './accounts/pool.ts'
import { hasChannels, readPoliciesOf, writePoliciesOf } from './policies/policies.ts'
import { channelsOf, type RelayerConfig, type RelayerConfigOf, readChannels } from './relayer.ts'

/** A relayer as a configuration file or a request describes it, with the path that problems name. */
interface RelayerDocument {
  readonly value: unknown
  readonly path: string
}

/**
 * Reads a relayer, and collects every problem instead of failing at the first. Undefined for what is not an
 * object.
 */
export function readRelayer({ value, path }: RelayerDocument, problems: string[]): RelayerConfig | undefined {
  const reader = openReader(value, path, problems)
  if (reader === undefined) return undefined
  const shared = readShared(reader, problems)
  const name = reader.get('network_type', text)
  const type = isNetworkType(name) ? name : reportUnknown(reader, name)
  const policies = readPoliciesOf(type, reader)
  const channels = hasChannels(type) ? readChannels(reader) : undefined
  // A type and its policies belong together, which the compiler does not see of a type that is read.
  const relayer = { ...shared, networkType: type, policies, ...omitUndefined({ channels }) } as RelayerConfig
  reader.finish()
  return relayer
}

/** Writes a relayer as `readRelayer` reads it. */
export function writeRelayer(relayer: RelayerConfig): object {
  const channels = channelsOf(relayer)
  return {
    id: relayer.id,
    name: relayer.name,
    network: relayer.network,
    network_type: relayer.networkType,
    signer_id: relayer.signerId,
    notification_id: relayer.notificationId,
    paused: relayer.paused,
    policies: writePoliciesOf(relayer),
    custom_rpc_urls: relayer.customRpcUrls?.map(({ url, weight }) => ({ url, weight })),
    ...(channels !== 0 && { channels }),
    ...(relayer.accounts && { accounts: writeAccounts(relayer.accounts) }),
  }
}

type Shared = Omit<RelayerConfigOf<'evm'>, 'networkType' | 'policies'>

function readShared(reader: Reader, problems: string[]): Shared {
  const relayerId = reader.get('id', id)
  const notificationId = reader.find('notification_id', id)
  const customRpcUrls = readRpcUrls(reader, 'custom_rpc_urls', problems)
  const signerId = reader.get('signer_id', id)
  const accounts = readAccounts(reader, signerId)
  return {
    id: relayerId,
    name: reader.find('name', text) ?? relayerId,
    network: reader.get('network', text),
    signerId,
    paused: reader.find('paused', flag) ?? false,
    ...(notificationId !== undefined && { notificationId }),
    ...(customRpcUrls.length > 0 && { customRpcUrls }),
    ...(accounts !== undefined && { accounts }),
  }
}

/**
 * Reports an unknown type. It is then read as EVM, so that one run finds every problem; the result of a run
 * with problems is dropped.
 */
function reportUnknown(reader: Reader, type: string): NetworkType {
  const [last, ...others] = [...NETWORK_TYPES].reverse().map((name) => `"${name}"`)
  const known = `${others.reverse().join(', ')} or ${last}`
  if (type !== '') reader.problem(`has the network_type "${type}", which is not known; use ${known}`)
  return 'evm'
}
