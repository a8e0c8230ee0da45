import { fingerprintOf } from '../lib/hash.ts'
import { suggest } from '../lib/suggest.ts'
import type { ResetCount } from './chain-identity-store.ts'
import {
  type Network,
  type NetworkType,
  networkId,
  type PrivateRpcUrl,
  parseNetworkType,
  privateUrlsOf,
  type RpcUrl,
} from './network.ts'
import { type AssetNames, assetNamesOf } from './tokens.ts'
import type { UntrustedPrivateUrls, UntrustedUrls } from './urls-store.ts'

/**
 * Every network that a relayer can be on: the configured and the well-known ones, with their current URLs.
 */
export interface NetworkDirectory {
  /** Lists the networks in the order of the configuration, then of the catalogue. */
  list(): readonly Network[]
  /**
   * Returns the same object until the urls change or the chain is reset; undefined if no network has this
   * name.
   */
  find(type: NetworkType, name: string): Network | undefined
  /**
   * Returns the fingerprint of the configured urls. A caller's URLs carry it, and count while it is the same.
   */
  insteadOf(type: NetworkType, name: string): string
  /** Like `insteadOf`, for the configured private endpoints. */
  insteadOfPrivate(type: NetworkType, name: string): string
  /**
   * Applies the urls of callers, and the resets. URLs that replaced configured URLs other than the current
   * ones do not count.
   */
  update(changes: NetworkChanges): void
}

/** The stored changes of networks. */
export interface NetworkChanges {
  readonly untrusted: readonly UntrustedUrls[]
  readonly untrustedPrivate: readonly UntrustedPrivateUrls[]
  readonly resets: readonly ResetCount[]
}

/**
 * Says which of these networks, by type and name, do not exist, with the closest names; undefined if all do.
 * A typing error in a list or in a limit would allow or limit nothing.
 */
export function unknownNetworks(
  networks: Pick<NetworkDirectory, 'list'>,
  ids: readonly string[],
): string | undefined {
  const known = networks.list().map(networkId)
  const sentences = ids
    .filter((id) => !known.includes(id))
    .map((id) => `there is no network "${id}"${suggest(id, known)}`)
  return sentences.length === 0 ? undefined : sentences.join('; ')
}

/** Returns what the assets of a network are called, by its type and name. */
export function namesOfNetworks(
  networks: Pick<NetworkDirectory, 'find'>,
): (id: string) => AssetNames | undefined {
  return (id) => {
    const [, type = '', name = ''] = /^([^:]+):(.+)$/.exec(id) ?? []
    const network = networks.find(parseNetworkType(type), name)
    return network && assetNamesOf(network)
  }
}

/** Creates the directory. The configuration wins over a well-known network of the same name. */
export function createNetworkDirectory(
  configured: readonly Network[],
  wellKnown: readonly Network[],
): NetworkDirectory {
  const base = new Map([...configured, ...wellKnown].reverse().map((network) => [keyOf(network), network]))
  const order = [...new Set([...configured, ...wellKnown].map(keyOf))]
  let applied = new Map([...base.keys()].map((key) => [key, UNCHANGED]))
  const current = new Map(base)

  const insteadOf = (type: NetworkType, name: string) => fingerprintOf(base.get(`${type}:${name}`)?.rpcUrls)
  const insteadOfPrivate = (type: NetworkType, name: string) => {
    const network = base.get(`${type}:${name}`)
    return fingerprintOf(network && privateUrlsOf(network))
  }

  return {
    list: () => order.flatMap((key) => current.get(key) ?? []),
    find: (type, name) => current.get(`${type}:${name}`),
    insteadOf,
    insteadOfPrivate,
    update: ({ untrusted, untrustedPrivate, resets }) => {
      const counting = untrusted.filter((one) => one.insteadOf === insteadOf(one.type, one.name))
      const urls = new Map(counting.map((one) => [keyOf(one), one.rpcUrls]))
      const privateUrls = new Map(
        untrustedPrivate
          .filter((one) => one.insteadOf === insteadOfPrivate(one.type, one.name))
          .map((one) => [keyOf(one), one.privateRpcUrls]),
      )
      const counts = new Map(resets.map((one) => [keyOf(one), one.resets]))
      const next = new Map(
        [...base.keys()].map((key) => [
          key,
          JSON.stringify([urls.get(key), privateUrls.get(key), counts.get(key)]),
        ]),
      )
      for (const [key, network] of base) {
        if (next.get(key) === applied.get(key)) continue
        const changes = { rpcUrls: urls.get(key), privateRpcUrls: privateUrls.get(key) }
        current.set(key, next.get(key) === UNCHANGED ? network : withUrls(network, changes))
      }
      applied = next
    },
  }
}

/** The changes of a network that has none. */
const UNCHANGED = JSON.stringify([undefined, undefined, undefined])

interface UrlChanges {
  readonly rpcUrls: readonly RpcUrl[] | undefined
  readonly privateRpcUrls: readonly PrivateRpcUrl[] | undefined
}

/** Returns a new object even without other urls, because a reset needs a new chain. */
function withUrls(network: Network, { rpcUrls = network.rpcUrls, privateRpcUrls }: UrlChanges): Network {
  if (network.type !== 'evm' || privateRpcUrls === undefined) return { ...network, rpcUrls }
  return { ...network, rpcUrls, privateRpcUrls }
}

function keyOf({ type, name }: { readonly type: NetworkType; readonly name: string }): string {
  return `${type}:${name}`
}
