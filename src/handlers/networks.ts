import { seesNetwork } from '../access/principal.ts'
import type { Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { assertNever } from '../lib/exhaustive.ts'
import { omitUndefined } from '../lib/object.ts'
import type { HeadState } from '../networks/head-age.ts'
import { type EvmNetwork, maskUrl, type Network, networkId } from '../networks/network.ts'
import { presentHead, toPage } from './present/shared.ts'
import type { Service } from './service.ts'

type Operations = 'listNetworks' | 'getNetwork' | 'updateNetwork' | 'resetNetwork'

/** The operations of the tag Networks. */
export function networkHandlers({ networks, headOf, resetChain }: Service): Pick<HandlerMap, Operations> {
  const present = (network: Network) => presentNetwork(network, headOf(networkId(network)))
  return {
    listNetworks: async ({ query }, { principal: { visibility } }) => {
      const page = toPage(query)
      const all = networks.list().filter((network) => seesNetwork(visibility, networkId(network)))
      const shown = all.slice(page.offset, page.offset + page.limit)
      return { data: shown.map(present), pagination: page.describe(all.length) }
    },
    getNetwork: async ({ path }, { principal: { visibility } }) => {
      const network = networks.get(path.network_id)
      if (!seesNetwork(visibility, networkId(network)))
        throw new AppError('network_not_found', `There is no network ${path.network_id}.`)
      return { data: present(network) }
    },
    updateNetwork: async ({ path, body }, { actor }) => {
      const urls = { rpcUrls: body.rpc_urls, privateRpcUrls: body.private_rpc_urls }
      const { network, logs } = await networks.changeUrls(path.network_id, urls, actor)
      return { data: present(network), logs }
    },
    resetNetwork: async ({ path }, { actor }) => {
      const network = networks.get(path.network_id)
      const { relayerIds, ended } = await resetChain(network, actor)
      return { data: { network_id: networkId(network), relayer_ids: relayerIds, ended_transactions: ended } }
    },
  }
}

/** Converts a network to the form of the contract. */
function presentNetwork(network: Network, head: HeadState | undefined): Schemas['Network'] {
  return omitUndefined({
    id: networkId(network),
    name: network.name,
    network_type: network.type,
    rpc_urls: network.rpcUrls.map(({ url, weight }) => ({ url: maskUrl(url), weight })),
    explorer_urls: network.explorerUrls,
    average_blocktime_ms: network.averageBlocktimeMs,
    head: head && presentHead(head),
    is_testnet: network.isTestnet,
    tags: network.tags,
    tokens: network.tokens,
    ...presentKind(network),
  })
}

function presentKind(network: Network) {
  switch (network.type) {
    case 'evm':
      return presentEvm(network)
    case 'solana':
      return { genesis_hash: network.genesisHash }
    case 'stellar':
      return { passphrase: network.passphrase }
    default:
      return assertNever(network)
  }
}

function presentEvm(network: EvmNetwork) {
  return {
    private_rpc_urls: network.privateRpcUrls?.map(({ url, method }) => ({ url: maskUrl(url), method })),
    chain_id: network.chainId,
    required_confirmations: network.requiredConfirmations,
    finality: network.finality,
    max_gas_per_transaction:
      network.maxGasPerTransaction === undefined ? undefined : Number(network.maxGasPerTransaction),
    tx_fee_cap: String(network.txFeeCap),
    min_priority_fee: network.minPriorityFee === undefined ? undefined : String(network.minPriorityFee),
    features: network.features,
    symbol: network.symbol,
  }
}
