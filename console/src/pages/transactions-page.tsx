import { useLiveReload } from '../live/use-live.ts'
import { useLoad } from '../live/use-load.ts'
import { Notice } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import { Pager, pageOf, ROWS_PER_PAGE } from '../parts/pager.tsx'
import { TransactionTable } from '../parts/transaction-table.tsx'
import { WhenLoaded } from '../parts/when-loaded.tsx'
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
  const page = pageOf(route)
  const loaded = useLoad(
    (signal) =>
      client.transactions
        .list(relayerId, { page, per_page: ROWS_PER_PAGE, ...(status && { status }), signal })
        .page(),
    [relayerId, status, page],
  )
  useLiveReload(
    ({ relayer_id, type }) => relayer_id === relayerId && type === 'transaction_update',
    loaded.reload,
  )
  return (
    <WhenLoaded loaded={loaded}>
      {({ items, pagination }) => (
        <>
          <TransactionTable rows={items} />
          <Pager
            pagination={pagination}
            route={{ ...route, query: { ...route.query, relayer: relayerId } }}
          />
        </>
      )}
    </WhenLoaded>
  )
}
