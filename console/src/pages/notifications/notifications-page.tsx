import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { Page } from '../../parts/page.tsx'
import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import { Status } from '../../parts/status.tsx'
import type { Column } from '../../parts/table.tsx'
import { hrefOf, type Route } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { CreateNotificationButton } from './create-notification.tsx'
import { DeadLetters } from './dead-letters.tsx'

const COLUMNS: readonly Column<Schemas['Notification']>[] = [
  { name: 'Notification', cell: ({ id }) => <a href={hrefOf(['notifications', id])}>{id}</a> },
  {
    name: 'State',
    cell: ({ paused, paused_reason }) => (
      <Status value={paused ? `paused (${paused_reason})` : 'active'} tone={paused ? 'warn' : 'good'} />
    ),
  },
  { name: 'Type', isExtra: true, cell: ({ type }) => type },
  { name: 'Dead letters', isNumber: true, cell: ({ id }) => <DeadLetters notificationId={id} /> },
  { name: 'URL', cell: ({ url }) => <span class="why">{url}</span> },
  { name: 'Signed', isExtra: true, cell: ({ has_signing_key }) => (has_signing_key ? 'yes' : 'no') },
]

/** The destinations of events. */
export function NotificationsPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const rows = usePage({
    route,
    keys: ['notifications'],
    load: (query) => client.notifications.list(query).page(),
  })
  return (
    <Page title="Notifications" actions={<CreateNotificationButton onDone={rows.reload} />}>
      <PagedTable
        caption="Notifications"
        empty="No notifications yet."
        columns={COLUMNS}
        keyOf={({ id }) => id}
        route={route}
        rows={rows}
      />
    </Page>
  )
}
