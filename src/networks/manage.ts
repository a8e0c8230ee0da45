import type { Actor } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import { changedFields } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import { maskUrl } from '../lib/http/mask-url.ts'
import type { AddressPolicy } from '../security/guarded-http-client.ts'
import { listResets } from './chain-identity-store.ts'
import type { NetworkChanges, NetworkDirectory } from './directory.ts'
import {
  type Network,
  networkId,
  PRIVATE_METHODS,
  type PrivateRpcUrl,
  privateUrlsOf,
  type RpcUrl,
} from './network.ts'
import { silentEndpoints, untrustedRpcUrlProblem } from './read-urls.ts'
import { listPrivateUrls, listUntrustedUrls, savePrivateUrls, saveUntrustedUrls } from './urls-store.ts'

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
   * Replaces the URLs of a network: in this process immediately, and in the others within moments. The audit
   * log records it.
   * @throws AppError 404; 400 for urls that may not be reached, or that serve another chain, and for private
   * endpoints of a network that is not an EVM network
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
  /** Checks which chain the network's URLs serve. */
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
      await transact(db, async (tx) => {
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

/** An RPC url of a caller: alone, or with its weight. */
type UntrustedRpcUrl = string | { readonly url: string; readonly weight?: number | undefined }

/** A private endpoint of a caller: only its URL, or with the method that accepts the bytes. */
type UntrustedPrivateUrl =
  | string
  | { readonly url: string; readonly method?: PrivateRpcUrl['method'] | undefined }

/** The urls to change; a list that is absent stays as it is. */
interface ChangedUrls {
  readonly rpcUrls?: readonly UntrustedRpcUrl[] | undefined
  /** If empty, the network no longer has private endpoints. */
  readonly privateRpcUrls?: readonly UntrustedPrivateUrl[] | undefined
}

/** The urls that a change replaces, or sets; an absent list is not part of it. */
interface UrlLists {
  readonly rpcUrls?: readonly RpcUrl[] | undefined
  readonly privateRpcUrls?: readonly PrivateRpcUrl[] | undefined
}

/** The default of the configuration file. */
const DEFAULT_WEIGHT = 100

const [DEFAULT_METHOD] = PRIVATE_METHODS

/**
 * Checks the urls that a caller sent, and adds the defaults.
 * @throws AppError 400 that names the field
 */
function readChangedUrls(
  network: Network,
  { rpcUrls, privateRpcUrls }: ChangedUrls,
  policy: AddressPolicy,
): UrlLists {
  if (privateRpcUrls && network.type !== 'evm')
    throw new AppError(
      'invalid_request',
      `body.private_rpc_urls: only EVM networks have private endpoints, and ${networkId(network)} is none; omit the field.`,
    )
  return {
    ...(rpcUrls && { rpcUrls: readUrls(rpcUrls, policy) }),
    ...(privateRpcUrls && {
      privateRpcUrls: privateRpcUrls.map((item, index) => readPrivateUrl(item, { index, policy })),
    }),
  }
}

/** @throws AppError 400 */
function readUrls(urls: readonly UntrustedRpcUrl[], policy: AddressPolicy): RpcUrl[] {
  const read = urls.map((item, index): RpcUrl => {
    const { url, weight = DEFAULT_WEIGHT } = typeof item === 'string' ? { url: item } : item
    requireReachable(item, { path: `body.rpc_urls[${index}]`, policy })
    return { url, weight, untrusted: true }
  })
  if (read.every(({ weight }) => weight === 0))
    throw new AppError('invalid_request', 'body.rpc_urls: expected at least one url with a weight above 0.')
  return read
}

/** @throws AppError 400 */
function readPrivateUrl(
  item: UntrustedPrivateUrl,
  { index, policy }: { readonly index: number; readonly policy: AddressPolicy },
): PrivateRpcUrl {
  const { url, method = DEFAULT_METHOD } = typeof item === 'string' ? { url: item } : item
  requireReachable(item, { path: `body.private_rpc_urls[${index}]`, policy })
  return { url, method, untrusted: true }
}

/** @throws AppError 400 */
function requireReachable(
  item: string | { readonly url: string },
  { path, policy }: { readonly path: string; readonly policy: AddressPolicy },
): void {
  const [url, at] = typeof item === 'string' ? [item, path] : [item.url, `${path}.url`]
  const problem = untrustedRpcUrlProblem(url, policy)
  if (problem !== undefined) throw new AppError('invalid_request', `${at}: ${problem}.`)
}

/** Reads the stored changes of networks. */
export async function readNetworkChanges(db: Db): Promise<NetworkChanges> {
  const [untrusted, untrustedPrivate, resets] = await Promise.all([
    listUntrustedUrls(db),
    listPrivateUrls(db),
    listResets(db),
  ])
  return { untrusted, untrustedPrivate, resets }
}
