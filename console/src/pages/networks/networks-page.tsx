import { useState } from 'preact/hooks'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { hostOf } from '../../format/explorer.ts'
import { useLoad } from '../../live/use-load.ts'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { type EndpointHealth, readEndpointHealth } from './endpoint-health.ts'

interface NetworkRow {
  readonly network: Schemas['Network']
  /** Absent for a network without relayers, which the service does not ask. */
  readonly health: { readonly status: string; readonly error?: string } | undefined
  readonly endpoints: EndpointHealth
}

/** The networks, with the health of those that relayers are on. */
export function NetworksPage() {
  const [showsAll, setShowsAll] = useState(false)
  const rows = useNetworkRows()
  return (
    <Page title="Networks">
      <div class="filters">
        <label class="check">
          <input
            type="checkbox"
            checked={showsAll}
            onChange={(event) => setShowsAll(event.currentTarget.checked)}
          />
          Include unused networks
        </label>
      </div>
      <WhenLoaded loaded={rows}>
        {(found) => (
          <Table
            caption="Networks"
            columns={COLUMNS}
            rows={found.filter(({ health }) => showsAll || health !== undefined)}
            keyOf={({ network }) => network.id}
            empty="No network has a relayer."
          />
        )}
      </WhenLoaded>
    </Page>
  )
}

function useNetworkRows() {
  const { client, may } = useWorkplace().session
  return useLoad(
    async (signal): Promise<NetworkRow[]> => {
      const [networks, ready, metrics] = await Promise.all([
        Array.fromAsync(client.networks.list({ signal })),
        client.health.getReadiness({ signal }),
        // A deployment without metrics answers 404, and then only the networks have a health.
        may('metrics:read') ? client.metrics.get('rpc_endpoint_up', { signal }).catch(() => '') : '',
      ])
      const endpoints = readEndpointHealth(String(metrics))
      const details = ready.components.networks.details ?? []
      return networks.map((network) => ({
        network,
        endpoints,
        health: details.find(({ name }) => name === network.name),
      }))
    },
    ['networks'],
  )
}

const COLUMNS: readonly Column<NetworkRow>[] = [
  {
    name: 'Network',
    cell: ({ network: { name, network_type, is_testnet } }) => (
      <>
        {name}
        <div class="why">
          {network_type}
          {is_testnet && ', test network'}
        </div>
      </>
    ),
  },
  {
    name: 'Health',
    cell: ({ health }) => (
      <>
        <Status value={health?.status ?? 'not asked'} />
        {health?.error && <div class="why">{health.error}</div>}
      </>
    ),
  },
  {
    name: 'Endpoints',
    cell: ({ network: { name, rpc_urls }, endpoints }) =>
      rpc_urls.map(({ url, weight }) => (
        <div key={url} class="endpoint">
          <EndpointState isUp={endpoints(name, url)} /> {hostOf(url)}{' '}
          <span class="muted">weight {weight}</span>
        </div>
      )),
  },
  {
    name: 'Final after',
    isExtra: true,
    cell: ({ network }) => finalityOf(network),
  },
  {
    name: 'Block time (configured)',
    isExtra: true,
    isNumber: true,
    cell: ({ network }) => `${network.average_blocktime_ms / 1000} s`,
  },
]

function EndpointState({ isUp }: { readonly isUp: boolean | undefined }) {
  if (isUp === undefined) return null
  return <Status value={isUp ? 'up' : 'down'} tone={isUp ? 'good' : 'bad'} />
}

function finalityOf({ finality, required_confirmations: depth }: Schemas['Network']): string {
  if (finality !== 'depth') return finality ?? 'inclusion'
  return `${depth} ${depth === 1 ? 'block' : 'blocks'}`
}
