import { useMemo, useState } from 'preact/hooks'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { useEvents, useLiveReload } from '../../live/use-live.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { useNow } from '../../live/use-now.ts'
import { Notice } from '../../parts/notice.tsx'
import type { Order } from '../../parts/order.ts'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { CreateRelayerButton } from '../relayer/create-relayer.tsx'
import { ActivityPanel } from './activity-panel.tsx'
import { AlertList } from './alert-list.tsx'
import { fitsFilter, orderRelayers, type RelayerRow } from './order-relayers.ts'
import { healthOf } from './relayer-health.ts'
import { RelayerTable } from './relayer-table.tsx'
import { useStatuses } from './use-statuses.ts'

/** Rows that the page shows, and of which it asks the status. More are found with the filter. */
const MOST_ROWS = 100

/** Every relayer at a glance, as it is now. */
export function OverviewPage() {
  const { session } = useWorkplace()
  const relayers = useLoad(
    (signal) => Array.fromAsync(session.client.relayers.list({ signal })),
    ['relayers'],
  )
  useLiveReload(({ type }) => type === 'relayer_state_update', relayers.reload)
  return (
    <Page title="Overview" aside={<ServiceHealth />} actions={<CreateRelayerButton />}>
      <AlertList />
      <WhenLoaded loaded={relayers}>{(found) => <Relayers relayers={found} />}</WhenLoaded>
      <ActivityPanel />
    </Page>
  )
}

function Relayers({ relayers }: { readonly relayers: readonly Schemas['Relayer'][] }) {
  const [filter, setFilter] = useState('')
  const [needsCare, setNeedsCare] = useState(false)
  const [order, setOrder] = useState<Order>({ by: 'Health', isDescending: false })
  const now = useNow()
  const networks = useNetworks()
  const fitting = useMemo(
    () => relayers.filter((relayer) => fitsFilter({ relayer, status: undefined, health: NO_HEALTH }, filter)),
    [relayers, filter],
  )
  const shown = fitting.slice(0, MOST_ROWS)
  const { statuses, refresh } = useStatuses(shown.map(({ id }) => id))
  useEvents(({ relayer_id: id }) => {
    if (id !== undefined && statuses.has(id)) refresh(id)
  })
  const rows = shown.map((relayer): RelayerRow => {
    const status = statuses.get(relayer.id)
    return { relayer, status, health: healthOf(relayer, status, now) }
  })
  const careful = rows.filter(({ health }) => health.tone === 'bad' || health.tone === 'warn')
  return (
    <>
      <div class="filters">
        <input
          type="search"
          aria-label="Filter relayers"
          placeholder="Filter by name or address"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={needsCare}
            onChange={(event) => setNeedsCare(event.currentTarget.checked)}
          />
          Needs attention ({careful.length})
        </label>
        <span class="muted" aria-live="polite">
          {relayers.length} {relayers.length === 1 ? 'relayer' : 'relayers'}
        </span>
      </div>
      {fitting.length > MOST_ROWS && (
        <Notice tone="idle">
          The first {MOST_ROWS} of {fitting.length} are shown. Use the filter to find others.
        </Notice>
      )}
      <RelayerTable
        rows={orderRelayers(needsCare ? careful : rows, order)}
        networks={networks}
        order={order}
        onOrder={setOrder}
      />
    </>
  )
}

const NO_HEALTH = { word: '…', tone: 'idle' } as const

function ServiceHealth() {
  const { session } = useWorkplace()
  const { value } = useLoad((signal) => session.client.health.getReadiness({ signal }), ['ready'])
  if (value === undefined) return null
  return (
    <span class="aside">
      <span class="muted">Service:</span> <Status value={value.status} />{' '}
      <span class="muted">{value.reason}</span>
    </span>
  )
}
