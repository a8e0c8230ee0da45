import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { Age } from '../../parts/age.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import { Status } from '../../parts/status.tsx'
import type { Column } from '../../parts/table.tsx'
import type { Tone } from '../../parts/tone.ts'
import { hrefOf, type Route } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'

type Plugin = Schemas['Plugin']

/** The plugins of the configuration file, with their state. */
export function PluginsPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const rows = usePage({ route, keys: ['plugins'], load: (query) => client.plugins.list(query).page() })
  return (
    <Page
      title="Plugins"
      actions={
        <button type="button" onClick={rows.reload}>
          Reload
        </button>
      }
    >
      <PagedTable
        caption="Plugins"
        columns={COLUMNS}
        route={route}
        rows={rows}
        keyOf={({ id }) => id}
        empty="No plugins configured."
      />
    </Page>
  )
}

const TONES: Readonly<Record<Plugin['state']['status'], Tone>> = {
  ready: 'good',
  starting: 'busy',
  waiting: 'bad',
}

/** Shows the state of the process of a plugin. */
export function PluginStatus({ state: { status } }: Pick<Plugin, 'state'>) {
  return <Status value={status === 'waiting' ? 'starts again' : status} tone={TONES[status]} />
}

/** Names the hooks of a plugin. */
function hookNames({ before_send, on_event, schedule }: NonNullable<Plugin['hooks']>): string {
  const names = [
    before_send && 'asked before sends',
    on_event && 'called with events',
    schedule && `${schedule.length} ${schedule.length === 1 ? 'schedule' : 'schedules'}`,
  ]
  return names.filter(Boolean).join(', ')
}

const COLUMNS: readonly Column<Plugin>[] = [
  {
    name: 'Plugin',
    cell: ({ id, hooks }) => (
      <>
        <a href={hrefOf(['plugins', id])}>{id}</a>
        {hooks && <div class="why">{hookNames(hooks)}</div>}
      </>
    ),
  },
  { name: 'State', cell: ({ state }) => <PluginStatus state={state} /> },
  { name: 'Calls', isNumber: true, cell: ({ state }) => state.calls },
  { name: 'Failures', isNumber: true, cell: ({ state }) => state.failures },
  {
    name: 'Last failure',
    isExtra: true,
    cell: ({ state: { last_failure: failure } }) =>
      failure === undefined ? (
        <span class="muted">–</span>
      ) : (
        <>
          <Age of={failure.at} />
          <div class="why">{failure.message.split('\n', 1)[0]}</div>
        </>
      ),
  },
]
