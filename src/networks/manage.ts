import type { Kysely } from 'kysely'
import type { Actor } from '../access/actor.ts'
import { appendManagement } from '../audit/append-store.ts'
import { changedFields } from '../audit/changed-fields.ts'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { AddressPolicy } from '../security/guarded-lookup.ts'
import type { NetworkDirectory } from './directory.ts'
import { maskUrl } from './mask-url.ts'
import { type Network, networkId, type RpcUrl } from './network.ts'
import { readNetworkChanges } from './network-changes.ts'
import { saveUntrustedUrls } from './rpc-urls-store.ts'
import { silentEndpoints } from './silent-endpoints.ts'
import { untrustedRpcUrlProblem } from './untrusted-rpc-url.ts'

/** An RPC url of a caller: alone, or with its weight. */
export type UntrustedRpcUrl = string | { readonly url: string; readonly weight?: number | undefined }

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
   * Replaces the RPC urls of a network: in this process at once, and in the others within moments. The audit log records it.
   * @throws AppError 404; 400 for urls that may not be reached, or that serve another chain
   */
  changeUrls(id: string, urls: readonly UntrustedRpcUrl[], actor: Actor): Promise<ChangedNetwork>
}

/** A network with its new urls. */
interface ChangedNetwork {
  readonly network: Network
  /** Sentences for the caller. */
  readonly logs: readonly string[]
}

interface NetworkManagerDeps {
  readonly db: Kysely<Schema>
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

/** The default of the configuration file. */
const DEFAULT_WEIGHT = 100

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
      const rpcUrls = readUrls(urls, policy)
      const answer = await verify({ ...network, rpcUrls })
      if (answer.kind === 'refused')
        throw new AppError('wrong_chain', `body.rpc_urls: ${answer.refusal.detail}`)
      const { type, name } = network
      const insteadOf = networks.insteadOf(type, name)
      await db.transaction().execute(async (tx) => {
        const earlier = await saveUntrustedUrls(tx, { type, name, rpcUrls, insteadOf })
        const before = earlier?.insteadOf === insteadOf ? earlier.rpcUrls : network.rpcUrls
        const target = { type: 'network', id: networkId(network) } as const
        const changes = changedUrls(before, rpcUrls)
        await appendManagement(tx, { author: actor, action: 'updateNetwork', target, ...changes })
      })
      networks.update(await readNetworkChanges(db))
      const logs = answer.kind === 'ok' ? [] : [silentEndpoints('rpc_urls', rpcUrls)]
      return { network: get(networkId(network)), logs }
    },
  }
}

function changedUrls(before: readonly RpcUrl[], after: readonly RpcUrl[]) {
  return changedFields({
    before,
    after,
    show: (urls) => ({ rpc_urls: urls.map(({ url, weight }) => ({ url: maskUrl(url), weight })) }),
    compared: (urls) => ({ rpc_urls: urls }),
  })
}

function findById(all: readonly Network[], id: string): Network | undefined {
  const lower = id.toLowerCase()
  return (
    all.find((network) => networkId(network) === id) ??
    all.find((network) => networkId(network).toLowerCase() === lower)
  )
}

/** @throws AppError 400 */
function readUrls(urls: readonly UntrustedRpcUrl[], policy: AddressPolicy): RpcUrl[] {
  const read = urls.map((item, index): RpcUrl => {
    const { url, weight = DEFAULT_WEIGHT } = typeof item === 'string' ? { url: item } : item
    const problem = untrustedRpcUrlProblem(url, policy)
    const path = `body.rpc_urls[${index}]${typeof item === 'string' ? '' : '.url'}`
    if (problem !== undefined) throw new AppError('invalid_request', `${path}: ${problem}.`)
    return { url, weight, untrusted: true }
  })
  if (read.every(({ weight }) => weight === 0))
    throw new AppError('invalid_request', 'body.rpc_urls: expected at least one url with a weight above 0.')
  return read
}
