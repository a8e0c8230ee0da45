import type { EvmPolicies } from '../chains/chain.ts'
import { address, flag, id, text, u128 } from './field-types.ts'
import { openReader, type Reader } from './reader.ts'
import { readRpcUrls } from './rpc-urls.ts'
import type { RelayerConfig } from './types.ts'

/** The `relayers` list. */
export function readRelayers(file: Reader, problems: string[]): RelayerConfig[] {
  if (file.raw('relayers') === undefined) file.problem('relayers is missing: it must be a list')
  return file.items('relayers').flatMap(({ value, place }) => {
    const reader = openReader(value, place, problems)
    if (!reader) return []
    const relayer = readRelayer(reader, problems)
    reader.finish()
    return [relayer]
  })
}

function readRelayer(reader: Reader, problems: string[]): RelayerConfig {
  const relayerId = reader.get('id', id)
  const networkType = reader.get('network_type', text)
  if (networkType !== '' && networkType !== 'evm') {
    reader.problem(`has the network_type "${networkType}", which is not supported yet; use "evm"`)
  }
  const notificationId = reader.find('notification_id', id)
  const customRpcUrls = readRpcUrls(reader, 'custom_rpc_urls', problems)
  return {
    id: relayerId,
    name: reader.find('name', text) ?? relayerId,
    network: reader.get('network', text),
    networkType: 'evm',
    signerId: reader.get('signer_id', id),
    paused: reader.find('paused', flag) ?? false,
    policies: readPolicies(reader),
    ...(notificationId !== undefined && { notificationId }),
    ...(customRpcUrls.length > 0 && { customRpcUrls }),
  }
}

function readPolicies(relayer: Reader): EvmPolicies {
  const reader = relayer.object('policies')
  if (!reader) return {}
  const policies = {
    eip1559Pricing: reader.find('eip1559_pricing', flag),
    gasLimitEstimation: reader.find('gas_limit_estimation', flag),
    gasPriceCap: reader.find('gas_price_cap', u128),
    minBalance: reader.find('min_balance', u128),
    privateTransactions: reader.find('private_transactions', flag),
    // An empty list is kept apart from none: what it means is for the policy to say.
    whitelistReceivers: reader.raw('whitelist_receivers') && reader.list('whitelist_receivers', address),
  }
  // Accepted and ignored, it would promise a privacy that nobody gets.
  if (policies.privateTransactions)
    reader.problem('has private_transactions true, but no private pool is supported yet')
  // Revert data is always decoded here.
  reader.ignore('include_revert_data')
  reader.finish()
  return Object.fromEntries(Object.entries(policies).filter(([, value]) => value !== undefined))
}
