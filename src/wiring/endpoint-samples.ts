import { notificationsOf } from '../alerts/findings.ts'
import type { EndpointSample } from '../alerts/watched-states.ts'
import { networkId } from '../networks/network.ts'
import type { RelayerRegistry } from './relayer-registry.ts'

/** Returns the present state of every endpoint that relayers use, with the notifications of these relayers. */
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
