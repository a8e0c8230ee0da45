import type { Actor } from '../access/actor.ts'
import { appendManagement } from '../audit/append-store.ts'
import { changedFields } from '../audit/changed-fields.ts'
import type { Db, Tx } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { AddressPolicy } from '../security/guarded-lookup.ts'
import type { NetworkDirectory } from './directory.ts'
import { maskUrl } from './mask-url.ts'
import { type Network, networkId, privateUrlsOf } from './network.ts'
import { readNetworkChanges } from './network-changes.ts'
import { savePrivateUrls } from './private-urls-store.ts'
import { type ChangedUrls, readChangedUrls, type UrlLists } from './read-changed-urls.ts'
import { saveUntrustedUrls } from './rpc-urls-store.ts'
import { silentEndpoints } from './silent-endpoints.ts'

/** The verbs of callers on networks. */
export interface NetworkManager {
  /** Lists the networks in the order of the configuration, then of the catalogue. */
  list(): readonly Network[]
  /**
   * Finds a network by `type:name`; letters may be in other cases.
   * @throws AppError 404
   */
  get(id: string): Network
  /**
   * Replaces urls of a network: in this process at once, and in the others within moments. The audit log records it.
   * @throws AppError 404; 400 for urls that may not be reached, or that serve another chain, and for private endpoints of a network that is
   * not an EVM network
   */
  changeUrls(id: string, urls: ChangedUrls, actor: Actor): Promise<ChangedNetwork>
}

/** A network with its new urls. */
interface ChangedNetwork {
  readonly network: Network
  /** Sentences for the caller. */
  readonly logs: readonly string[]
}

interface NetworkManagerDeps {
  readonly db: Db
  readonly networks: NetworkDirectory
  /** The addresses that urls of callers may lead to. */
  readonly policy: AddressPolicy
  /** Asks the network's urls which chain they serve. */
  readonly verify: (network: Network) => Promise<ChainCheck>
}

/** The chain is the configured one, another one, or not known. */
type ChainCheck =
  | { readonly kind: 'ok' | 'unknown' }
  | { readonly kind: 'refused'; readonly refusal: { readonly detail: string } }

/** Creates the manager of this deployment's networks. */
export function createNetworkManager(deps: NetworkManagerDeps): NetworkManager {
  const { db, networks, policy, verify } = deps

  function get(id: string): Network {
    const network = findById(networks.list(), id)
    if (network === undefined)
      throw new AppError('network_not_found', `There is no network ${id}; an id is like evm:sepolia.`)
    return network
  }

  return {
    list: () => networks.list(),
    get,
    changeUrls: async (id, urls, actor) => {
      const network = get(id)
      const wanted = readChangedUrls(network, urls, policy)
      const { rpcUrls } = wanted
      const answer = rpcUrls && (await verify({ ...network, rpcUrls }))
      if (answer?.kind === 'refused')
        throw new AppError('wrong_chain', `body.rpc_urls: ${answer.refusal.detail}`)
      await db.transaction().execute(async (tx) => {
        const before = await saveUrls(tx, networks, { network, wanted })
        const target = { type: 'network', id: networkId(network) } as const
        const changes = changedUrls(before, wanted)
        await appendManagement(tx, { author: actor, action: 'updateNetwork', target, ...changes })
      })
      networks.update(await readNetworkChanges(db))
      const logs = answer?.kind === 'unknown' && rpcUrls ? [silentEndpoints('rpc_urls', rpcUrls)] : []
      return { network: get(networkId(network)), logs }
    },
  }
}

/** Stores the wanted urls, and returns those that they replace. */
async function saveUrls(
  tx: Tx,
  networks: NetworkDirectory,
  { network, wanted: { rpcUrls, privateRpcUrls } }: { readonly network: Network; readonly wanted: UrlLists },
): Promise<UrlLists> {
  const { type, name } = network
  const before: { -readonly [List in keyof UrlLists]: UrlLists[List] } = {}
  if (rpcUrls) {
    const insteadOf = networks.insteadOf(type, name)
    const earlier = await saveUntrustedUrls(tx, { type, name, rpcUrls, insteadOf })
    before.rpcUrls = earlier?.insteadOf === insteadOf ? earlier.rpcUrls : network.rpcUrls
  }
  if (privateRpcUrls) {
    const insteadOf = networks.insteadOfPrivate(type, name)
    const earlier = await savePrivateUrls(tx, { type, name, privateRpcUrls, insteadOf })
    before.privateRpcUrls = earlier?.insteadOf === insteadOf ? earlier.privateRpcUrls : privateUrlsOf(network)
  }
  return before
}

function changedUrls(before: UrlLists, after: UrlLists) {
  return changedFields({
    before,
    after,
    show: ({ rpcUrls, privateRpcUrls }) => ({
      rpc_urls: rpcUrls?.map(({ url, weight }) => ({ url: maskUrl(url), weight })),
      private_rpc_urls: privateRpcUrls?.map(({ url, method }) => ({ url: maskUrl(url), method })),
    }),
    compared: ({ rpcUrls, privateRpcUrls }) => ({ rpc_urls: rpcUrls, private_rpc_urls: privateRpcUrls }),
  })
}

function findById(all: readonly Network[], id: string): Network | undefined {
  const lower = id.toLowerCase()
  return (
    all.find((network) => networkId(network) === id) ??
    all.find((network) => networkId(network).toLowerCase() === lower)
  )
}
