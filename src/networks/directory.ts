import { fingerprintOf } from '../lib/fingerprint.ts'
import type { Network, NetworkType } from './network.ts'
import type { UntrustedUrls } from './rpc-urls-store.ts'

/** Every network that a relayer can be on: those of the configuration and the well-known ones, with the urls that count now. */
export interface NetworkDirectory {
  /** In the order of the configuration, then of the catalogue. */
  list(): readonly Network[]
  /** The same object until its urls change; undefined when there is none of this name. */
  find(type: NetworkType, name: string): Network | undefined
  /** What urls given to it now have to name as those that they stand for. */
  insteadOf(type: NetworkType, name: string): string
  /** Takes over all that callers gave. Urls that stand for others than the configuration's present ones do not count. */
  update(given: readonly UntrustedUrls[]): void
}

/** `wellKnown` networks that the configuration describes, too, are what it says. */
export function createNetworkDirectory(
  configured: readonly Network[],
  wellKnown: readonly Network[],
): NetworkDirectory {
  const base = new Map([...configured, ...wellKnown].reverse().map((network) => [keyOf(network), network]))
  const order = [...new Set([...configured, ...wellKnown].map(keyOf))]
  let given = new Map<string, string>()
  const current = new Map(base)

  const insteadOf = (type: NetworkType, name: string) => fingerprintOf(base.get(`${type}:${name}`)?.rpcUrls)

  return {
    list: () => order.flatMap((key) => current.get(key) ?? []),
    find: (type, name) => current.get(`${type}:${name}`),
    insteadOf,
    update: (all) => {
      const counting = all.filter((one) => one.insteadOf === insteadOf(one.type, one.name))
      const next = new Map(counting.map((one) => [keyOf(one), JSON.stringify(one.rpcUrls)]))
      for (const [key, network] of base) {
        if (next.get(key) === given.get(key)) continue
        const one = counting.find((other) => keyOf(other) === key)
        current.set(key, one === undefined ? network : { ...network, rpcUrls: one.rpcUrls })
      }
      given = next
    },
  }
}

function keyOf({ type, name }: { readonly type: NetworkType; readonly name: string }): string {
  return `${type}:${name}`
}
