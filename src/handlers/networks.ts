import { seesNetwork } from '../access/principal.ts'
import type { Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { maskUrl } from '../lib/http/mask-url.ts'
import { omitUndefined } from '../lib/object.ts'
import type { HeadState } from '../networks/head-age.ts'
import { type Network, networkId } from '../networks/network.ts'
import { CODECS } from './codecs/codecs.ts'
import { presentHead, toPage } from './present/shared.ts'
import type { RelayerParts } from './service.ts'

type Operations = 'listNetworks' | 'getNetwork' | 'updateNetwork' | 'resetNetwork'

/** The operations of the tag Networks. */
export function networkHandlers({
  networks,
  headOf,
  resetChain,
}: RelayerParts): Pick<HandlerMap, Operations> {
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
    ...CODECS[network.type].presentNetwork(network),
  })
}
