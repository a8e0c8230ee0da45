import { readEvmPolicies } from './evm-policies.ts'
import { flag, id, text } from './fields/field-types.ts'
import { openReader, type Reader } from './fields/reader.ts'
import { readRpcUrls } from './fields/rpc-urls.ts'
import { readSolanaRelayer } from './solana-relayer.ts'
import { readStellarRelayer } from './stellar-relayer.ts'
import type { RelayerConfig } from './types.ts'

/** The `relayers` list. */
export function readRelayers(file: Reader, problems: string[]): RelayerConfig[] {
  if (file.raw('relayers') === undefined) file.problem('relayers is missing: it must be a list')
  return file.items('relayers').flatMap(({ value, path }) => {
    const reader = openReader(value, path, problems)
    if (!reader) return []
    const relayer = readRelayer(reader, problems)
    reader.finish()
    return [relayer]
  })
}

/** One relayer. The caller has to `finish` the reader. */
export function readRelayer(reader: Reader, problems: string[]): RelayerConfig {
  const relayerId = reader.get('id', id)
  const notificationId = reader.find('notification_id', id)
  const customRpcUrls = readRpcUrls(reader, 'custom_rpc_urls', problems)
  const shared = {
    id: relayerId,
    name: reader.find('name', text) ?? relayerId,
    network: reader.get('network', text),
    signerId: reader.get('signer_id', id),
    paused: reader.find('paused', flag) ?? false,
    ...(notificationId !== undefined && { notificationId }),
    ...(customRpcUrls.length > 0 && { customRpcUrls }),
  }
  const type = reader.get('network_type', text)
  if (type === 'stellar') return readStellarRelayer(reader, shared)
  if (type === 'solana') return readSolanaRelayer(reader, shared)
  if (type !== '' && type !== 'evm') {
    reader.problem(`has the network_type "${type}", which is not known; use "evm", "solana" or "stellar"`)
  }
  return { ...shared, networkType: 'evm', policies: readEvmPolicies(reader) }
}
