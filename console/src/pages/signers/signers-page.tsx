import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import type { Column } from '../../parts/table.tsx'
import type { Route } from '../../routing/routes.ts'
import { useOffers, useWorkplace } from '../../session/session-context.ts'
import { CreateSignerButton } from './create-signer.tsx'
import { CreatedKeysTable, useCreatedKeys } from './created-keys.tsx'

const COLUMNS: readonly Column<Schemas['Signer']>[] = [
  { name: 'Signer', cell: ({ id }) => <code>{id}</code> },
  {
    name: 'Key stored in',
    cell: ({ type }) =>
      type === 'local' || type === 'generated' ? 'this service' : type.replaceAll('_', ' '),
  },
  {
    name: 'Configuration',
    cell: ({ config }) =>
      Object.keys(config).length === 0 ? <span class="muted">–</span> : <Facts facts={rowsOf(config)} />,
  },
]

/** The keys that relayers sign with, as far as answers show them. */
export function SignersPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const offersDeletion = useOffers()('signers:admin')
  const keys = useCreatedKeys()
  const rows = usePage({ route, keys: ['signers'], load: (query) => client.signers.list(query).page() })
  const reload = () => {
    rows.reload()
    keys.reload()
  }
  const actions: Column<Schemas['Signer']> = {
    name: 'Delete',
    cell: ({ id }) => (
      <ActionButton
        name="Delete"
        confirm="Delete the signer"
        scope="signers:admin"
        isDangerous
        act={() => client.signers.delete(id)}
        onDone={rows.reload}
      >
        <p>
          Signer <code>{id}</code> is deleted with its key. Without another copy of the key, the account is
          lost. Delete the relayers that use it first.
        </p>
      </ActionButton>
    ),
  }
  return (
    <Page title="Signers" actions={<CreateSignerButton onDone={reload} />}>
      <PagedTable
        caption="Signers"
        empty="No signers yet."
        columns={offersDeletion ? [...COLUMNS, actions] : COLUMNS}
        keyOf={({ id }) => id}
        route={route}
        rows={rows}
      />
      <CreatedKeysTable keys={keys} />
    </Page>
  )
}

/** One row for each setting; the parts of a setting are named with points. */
function rowsOf(config: object, prefix = ''): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null
        ? Object.entries(rowsOf(value, `${prefix}${name}.`))
        : [[`${prefix}${name}`.replaceAll('_', ' '), String(value)]],
    ),
  )
}
