import { useLoad } from '../live/use-load.ts'
import { Notice } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import { PagedTable, usePage } from '../parts/paged-table.tsx'
import { TRANSACTION_COLUMNS } from '../parts/transaction-columns.tsx'
import type { Route } from '../routing/routes.ts'
import { changeQuery } from '../routing/use-route.ts'
import { useWorkplace } from '../session/session-context.ts'

const STATUSES = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
] as const

/** The transactions of a relayer, page by page: however many there are, the service sends one page of them. */
export function TransactionsPage({ route }: { readonly route: Route }) {
  const { client, may } = useWorkplace().session
  const relayers = useLoad(
    async (signal) => (may('relayers:read') ? await Array.fromAsync(client.relayers.list({ signal })) : []),
    ['relayers'],
  )
  const relayerId = route.query.relayer ?? relayers.value?.[0]?.id
  return (
    <Page title="Transactions">
      <div class="filters">
        <label for="relayer">Relayer</label>
        {may('relayers:read') ? (
          <select
            id="relayer"
            value={relayerId}
            onChange={(event) => changeQuery(route, { relayer: event.currentTarget.value })}
          >
            {(relayers.value ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        ) : (
          <input
            id="relayer"
            value={relayerId}
            onChange={(event) => changeQuery(route, { relayer: event.currentTarget.value })}
          />
        )}
        <label>
          Status
          <select
            value={route.query.status ?? ''}
            onChange={(event) => changeQuery(route, { status: event.currentTarget.value })}
          >
            <option value="">all</option>
            {STATUSES.map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
        </label>
      </div>
      {relayerId === undefined ? (
        <Notice tone="idle">Name a relayer to see its transactions.</Notice>
      ) : (
        <List relayerId={relayerId} route={route} />
      )}
    </Page>
  )
}

function List({ relayerId, route }: { readonly relayerId: string; readonly route: Route }) {
  const { client } = useWorkplace().session
  const status = STATUSES.find((known) => known === route.query.status)
  const rows = usePage({
    route,
    keys: [relayerId, status],
    load: (query) => client.transactions.list(relayerId, { ...query, ...(status && { status }) }).page(),
    changesWith: ({ relayer_id, type }) => relayer_id === relayerId && type === 'transaction_update',
  })
  return (
    <PagedTable
      caption="Transactions"
      empty="There are none."
      columns={TRANSACTION_COLUMNS}
      keyOf={({ id }) => id}
      route={{ ...route, query: { ...route.query, relayer: relayerId } }}
      rows={rows}
    />
  )
}
