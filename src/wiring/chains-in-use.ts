import { notificationsOf } from '../alerts/findings.ts'
import type { EndpointSample, HeadSample } from '../alerts/watched-states.ts'
import type { Chain } from '../chains/chain.ts'
import type { Clock } from '../lib/time.ts'
import { describeHead, type HeadState } from '../networks/head-age.ts'
import { type Network, networkId } from '../networks/network.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerRegistry } from './relayer-registry.ts'

type Registry = Pick<RelayerRegistry, 'endpointGroups'>

/** A network, the chain that talks to some of its endpoints, and the relayers that use them. */
export interface ChainInUse {
  readonly network: Network
  readonly chain: Chain
  readonly relayers: readonly Relayer[]
}

/** Returns a chain of every group of endpoints that relayers use, by the name of the group. */
export function chainsInUse(registry: Registry): Map<string, ChainInUse> {
  return new Map(
    [...registry.endpointGroups()].map(
      ([
        name,
        {
          runtime: { network, chain },
          relayers,
        },
      ]) => [name, { network, chain, relayers }],
    ),
  )
}

/** Returns the same chains with the names of their networks. */
export function networksInUse(registry: Registry): { network: string; chain: Chain }[] {
  return [...chainsInUse(registry).values()].map(({ network, chain }) => ({ network: network.name, chain }))
}

/** A network that relayers use, and its newest head. */
export interface NetworkHead {
  readonly network: Network
  /** Undefined if no endpoint has reported it recently. */
  readonly state: HeadState | undefined
  /** This process has seen the network make a block. */
  readonly advanced: boolean
  readonly relayers: readonly Relayer[]
}

/**
 * Returns the newest head of every network that relayers use, by its id; `now` in ms of the monotonic clock.
 * If relayers have custom endpoints, the freshest head counts: the others describe endpoints, not the
 * network.
 */
export function headsInUse(registry: Registry, now: number): Map<string, NetworkHead> {
  const groups = Map.groupBy(chainsInUse(registry).values(), ({ network }) => networkId(network))
  return new Map([...groups].map(([id, members]) => [id, newestHead(members, now)]))
}

function newestHead(members: readonly ChainInUse[], now: number): NetworkHead {
  const [freshest] = members
    .map(({ network, chain }) => {
      const seen = chain.seenHead()
      return { network, state: describeHead(network, seen, now), advanced: seen?.advanced === true }
    })
    .sort((one, other) => (one.state?.ageMs ?? Infinity) - (other.state?.ageMs ?? Infinity))
  if (freshest === undefined) throw new Error('a network in use has no chain')
  return { ...freshest, relayers: members.flatMap(({ relayers }) => relayers) }
}

/**
 * A head that was reported longer ago than this, in ms, is queried again, so that a network without
 * transactions is also known to make blocks.
 */
const ASK_AGAIN_MS = 30_000

/** Creates a function that queries heads that were not queried recently, without waiting for the replies. */
export function createHeadPoller(registry: Registry, clock: Clock): () => void {
  const askedAt = new WeakMap<Chain, number>()
  return () => {
    const now = clock.monotonic()
    for (const { chain } of chainsInUse(registry).values()) {
      const last = Math.max(
        chain.seenHead()?.confirmedAt ?? Number.NEGATIVE_INFINITY,
        askedAt.get(chain) ?? Number.NEGATIVE_INFINITY,
      )
      if (now - last < ASK_AGAIN_MS) continue
      askedAt.set(chain, now)
      void chain.head()
    }
  }
}

/** Returns the newest heads with the notifications of the relayers on each network. */
export function sampleHeads(registry: Registry, now: number): HeadSample[] {
  return [...headsInUse(registry, now).values()].map(({ relayers, ...head }) => ({
    ...head,
    notifications: notificationsOf(relayers),
  }))
}

/**
 * Returns the current state of every endpoint that relayers use, with the notifications of these relayers.
 */
export function sampleEndpoints(registry: Pick<RelayerRegistry, 'endpointGroups'>): EndpointSample[] {
  const uses = [...registry.endpointGroups().values()].flatMap(({ runtime: { network, chain }, relayers }) =>
    chain.endpoints().map((report) => ({ network: networkId(network), report, relayers })),
  )
  const byEndpoint = Map.groupBy(uses, ({ network, report }) => `${network} ${report.maskedUrl}`)
  return [...byEndpoint.values()].flatMap((members) => {
    const [first] = members
    if (first === undefined) return []
    const asked = members.filter(({ report }) => !report.neverAsked)
    return {
      network: first.network,
      endpoint: first.report.maskedUrl,
      isUsable: asked.length === 0 ? undefined : asked.every(({ report }) => report.healthy),
      notifications: notificationsOf(members.flatMap(({ relayers }) => relayers)),
    }
  })
}
