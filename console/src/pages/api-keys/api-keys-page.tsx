import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { Age } from '../../parts/age.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import { Status } from '../../parts/status.tsx'
import type { Column } from '../../parts/table.tsx'
import { hrefOf, type Route } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { CreateApiKeyButton } from './create-api-key.tsx'

const COLUMNS: readonly Column<Schemas['ApiKey']>[] = [
  { name: 'Key', cell: ({ id, name }) => <a href={hrefOf(['api-keys', id])}>{name}</a> },
  {
    name: 'State',
    cell: ({ disabled }) => (
      <Status value={disabled ? 'disabled' : 'active'} tone={disabled ? 'bad' : 'good'} />
    ),
  },
  { name: 'Scopes', isExtra: true, cell: ({ scopes }) => <div class="why">{scopes.join(', ')}</div> },
  {
    name: 'Access',
    isExtra: true,
    cell: ({ relayers, networks }) => [...(relayers ?? []), ...(networks ?? [])].join(', ') || 'everything',
  },
  { name: 'Last used', isNumber: true, cell: ({ last_used_at }) => <Age of={last_used_at} /> },
]

/** The API keys. Their secrets are shown by no answer, and so nowhere here. */
export function ApiKeysPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const rows = usePage({ route, keys: ['api-keys'], load: (query) => client.apiKeys.list(query).page() })
  return (
    <Page title="API keys" actions={<CreateApiKeyButton onDone={rows.reload} />}>
      <PagedTable
        caption="API keys"
        empty="No API keys yet. Only the key from the environment works."
        columns={COLUMNS}
        keyOf={({ id }) => id}
        route={route}
        rows={rows}
      />
    </Page>
  )
}
