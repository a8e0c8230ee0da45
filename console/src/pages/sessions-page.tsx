import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { nameOfPerson } from '../format/person.ts'
import { formatTime } from '../format/times.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Age } from '../parts/age.tsx'
import { Page } from '../parts/page.tsx'
import { PagedTable, usePage } from '../parts/paged-table.tsx'
import type { Column } from '../parts/table.tsx'
import { hrefOf, type Route } from '../routing/routes.ts'
import { useOffers, useWorkplace } from '../session/session-context.ts'

type SignedIn = Schemas['Session']

const COLUMNS: readonly Column<SignedIn>[] = [
  {
    name: 'Person',
    cell: ({ person, person_id }) => (
      <a href={hrefOf(['audit'], { actor: person_id })} title="Activity">
        {nameOfPerson(person)}
      </a>
    ),
  },
  { name: 'Roles', cell: ({ roles }) => roles.join(', ') },
  {
    name: 'From',
    isExtra: true,
    cell: ({ address, user_agent }) => (
      <>
        {address}
        <div class="why">{user_agent}</div>
      </>
    ),
  },
  { name: 'Signed in', isNumber: true, cell: ({ created_at }) => <Age of={created_at} /> },
  { name: 'Last used', isNumber: true, cell: ({ last_used_at }) => <Age of={last_used_at} /> },
  { name: 'Ends', isExtra: true, cell: ({ expires_at }) => formatTime(expires_at) },
]

/** The people who are signed in. */
export function SessionsPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const offersEnd = useOffers()('api-keys:admin')
  const rows = usePage({ route, keys: ['sessions'], load: (query) => client.sessions.list(query).page() })
  const actions: Column<SignedIn> = {
    name: 'Sign out',
    cell: ({ id, person }) => (
      <ActionButton
        name="Sign out"
        scope="api-keys:admin"
        isDangerous
        act={() => client.sessions.end(id)}
        onDone={rows.reload}
      >
        <p>
          This session of {nameOfPerson(person)} ends. The person can sign in again, unless the provider
          refuses.
        </p>
      </ActionButton>
    ),
  }
  return (
    <Page title="Sessions">
      <PagedTable
        caption="Sessions"
        empty="No one is signed in."
        columns={offersEnd ? [...COLUMNS, actions] : COLUMNS}
        keyOf={({ id }) => id}
        route={route}
        rows={rows}
      />
    </Page>
  )
}
