import { useState } from 'preact/hooks'
import { useLoad } from '../../live/use-load.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { LoadedPage } from '../../parts/loaded-page.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import { Status } from '../../parts/status.tsx'
import type { Route } from '../../routing/routes.ts'
import { changeQuery } from '../../routing/use-route.ts'
import { useOffers, useWorkplace } from '../../session/session-context.ts'
import { ALERT_WORDS } from '../overview/alert-list.tsx'
import { deliveryColumns } from './delivery-columns.tsx'
import { NotificationActions } from './notification-actions.tsx'

const STATUSES = ['waiting', 'pending', 'delivered', 'dead'] as const

/** A notification with its deliveries: what arrived, what is tried again, and what was given up. */
export function NotificationPage({ id, route }: { readonly id: string; readonly route: Route }) {
  const { client } = useWorkplace().session
  const notification = useLoad((signal) => client.notifications.get(id, { signal }), [id])
  const status = STATUSES.find((known) => known === route.query.status)
  const deliveries = usePage({
    route,
    keys: [id, status],
    load: (query) => client.deliveries.list(id, { ...query, ...(status && { status }) }).page(),
    changesWith: () => true,
  })
  const reload = () => {
    notification.reload()
    deliveries.reload()
  }
  const offersRedelivery = useOffers()('notifications:write')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const choose = (deliveryId: string) => setChosen((known) => toggle(known, deliveryId))
  const columns = deliveryColumns({
    notificationId: id,
    choice: offersRedelivery ? { chosen, choose } : undefined,
  })
  return (
    <LoadedPage title={`Notification ${id}`} loaded={notification}>
      {(found) => (
        <Page
          title={`Notification ${id}`}
          aside={<Status value={found.paused ? 'paused' : 'active'} tone={found.paused ? 'warn' : 'good'} />}
          actions={<NotificationActions notification={found} onDone={reload} />}
        >
          <Panel title="Receiver">
            <Facts
              facts={{
                Type: found.type,
                Url: found.url,
                'Signing key': found.type === 'webhook' ? (found.has_signing_key ? 'yes' : 'no') : undefined,
                Alerts:
                  found.type === 'webhook'
                    ? undefined
                    : (found.alerts?.map((kind) => ALERT_WORDS[kind]).join(', ') ?? 'all'),
                Paused: found.paused_reason,
              }}
            />
          </Panel>
          <div class="filters">
            <label>
              Deliveries
              <select
                value={status ?? ''}
                onChange={(event) => changeQuery(route, { status: event.currentTarget.value })}
              >
                <option value="">all</option>
                {STATUSES.map((known) => (
                  <option key={known}>{known}</option>
                ))}
              </select>
            </label>
            {chosen.size > 0 && (
              <ActionButton
                name={`Redeliver ${chosen.size} selected`}
                scope="notifications:write"
                act={() =>
                  Promise.all([...chosen].map((deliveryId) => client.deliveries.redeliver(id, deliveryId)))
                }
                onDone={() => {
                  setChosen(new Set())
                  reload()
                }}
              >
                <p>They are sent again now with the same IDs, so the receiver can ignore duplicates.</p>
              </ActionButton>
            )}
          </div>
          <PagedTable
            caption="Deliveries"
            empty="No deliveries."
            columns={columns}
            keyOf={(row) => row.id}
            route={route}
            rows={deliveries}
          />
        </Page>
      )}
    </LoadedPage>
  )
}

function toggle(known: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(known)
  if (!next.delete(id)) next.add(id)
  return next
}
