import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { formatTime } from '../../format/times.ts'
import { useLoad } from '../../live/use-load.ts'
import { Age } from '../../parts/age.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Json } from '../../parts/json.tsx'
import { LoadedPage } from '../../parts/loaded-page.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import type { Tone } from '../../parts/tone.ts'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { PaymentsPanels } from './payments-panels.tsx'
import { PluginStatus } from './plugins-page.tsx'

type Plugin = Schemas['Plugin']
type Hooks = NonNullable<Plugin['hooks']>
type Schedule = NonNullable<Hooks['schedule']>[number]
type LogLine = NonNullable<Plugin['state']['logs']>[number]

/** A plugin: its process, what it may do, when the service calls it by itself, and what it logged. */
export function PluginPage({ id }: { readonly id: string }) {
  const { client } = useWorkplace().session
  const plugin = useLoad((signal) => client.plugins.get(id, { signal }), [id])
  return (
    <LoadedPage title={`Plugin ${id}`} loaded={plugin}>
      {(found) => (
        <Page
          title={`Plugin ${id}`}
          aside={<PluginStatus state={found.state} />}
          actions={
            <button type="button" onClick={plugin.reload}>
              Reload
            </button>
          }
        >
          <Panel title="Process">
            <ProcessFacts state={found.state} />
          </Panel>
          <Panel title="Settings">
            <SettingFacts plugin={found} />
          </Panel>
          {found.hooks && (
            <Panel title="Hooks">
              <HookFacts hooks={found.hooks} />
            </Panel>
          )}
          <PaymentsPanels plugin={found} />
          <Panel title="Log">
            <Table
              caption="Log"
              columns={LOG_COLUMNS}
              rows={numbered(found.state.logs ?? [])}
              keyOf={({ key }) => key}
              empty="Nothing logged since its process started."
            />
          </Panel>
        </Page>
      )}
    </LoadedPage>
  )
}

/** Numbers the lines, newest first: two of them can have the same time and text. */
function numbered(lines: readonly LogLine[]): (LogLine & { readonly key: string })[] {
  return lines.map((line, at) => ({ ...line, key: String(at) })).toReversed()
}

/** With several processes of the service, each has a process of the plugin. */
function ProcessFacts({ state }: Pick<Plugin, 'state'>) {
  const { calls, failures, running, queued, restarts, last_failure: failure } = state
  return (
    <>
      <p class="muted">From the process that answered this request.</p>
      <Facts
        facts={{
          Calls: calls,
          Failures: failures,
          Running: running,
          Waiting: queued,
          Restarts: restarts,
          'Last failure': failure && (
            <>
              <Age of={failure.at} />
              <pre>{failure.message}</pre>
            </>
          ),
        }}
      />
    </>
  )
}

function SettingFacts({ plugin }: { readonly plugin: Plugin }) {
  const { id, path, timeout, memory_mb, scopes, relayers, config } = plugin
  const keyId = `plugin.${id}`
  const switches = [
    plugin.emit_logs && 'results have its log',
    plugin.emit_traces && 'results have its requests',
    plugin.raw_response && 'results are whole responses',
    plugin.allow_get_invocation && 'called with GET as well',
    plugin.forward_logs && 'its log is in that of the service',
  ]
  return (
    <Facts
      facts={{
        File: <code>{path}</code>,
        Timeout: `${timeout} s`,
        Memory: `${memory_mb} MiB`,
        'API key': <a href={hrefOf(['api-keys', keyId])}>{keyId}</a>,
        Scopes: scopes.length === 0 ? 'none' : scopes.join(', '),
        Relayers: relayers?.join(', ') ?? 'all',
        Switches: switches.filter(Boolean).join(', ') || undefined,
        Configuration: config && <Json value={config} name="Configuration" />,
      }}
    />
  )
}

function HookFacts({ hooks: { before_send, on_event, schedule } }: { readonly hooks: Hooks }) {
  return (
    <>
      <Facts
        facts={{
          'Before a send': before_send && (
            <>
              asked, for {before_send.timeout} s
              <div class="why">
                {before_send.on_failure === 'refuse'
                  ? 'If the plugin does not answer, the request is refused.'
                  : 'If the plugin does not answer, the request is allowed.'}
              </div>
            </>
          ),
          Events: on_event && (
            <>
              {on_event.types?.join(', ') ?? 'all'}
              <div class="why">
                {on_event.waiting === 0 ? 'None pending.' : `${on_event.waiting} pending retry.`}{' '}
                {on_event.failing_since && (
                  <>
                    The oldest has been failing since <Age of={on_event.failing_since} />.
                  </>
                )}
              </div>
            </>
          ),
        }}
      />
      {schedule && (
        <Table
          caption="Schedules"
          columns={SCHEDULE_COLUMNS}
          rows={schedule}
          keyOf={({ name }) => name}
          empty=""
        />
      )}
    </>
  )
}

const SCHEDULE_COLUMNS: readonly Column<Schedule>[] = [
  { name: 'Schedule', cell: ({ name }) => name },
  {
    name: 'Times',
    cell: ({ cron, timezone }) => (
      <>
        <code>{cron}</code>
        <div class="why">{timezone}</div>
      </>
    ),
  },
  { name: 'Next', cell: ({ next_at }) => (next_at === undefined ? '–' : formatTime(next_at)) },
]

const LEVELS: Readonly<Record<LogLine['level'], Tone>> = {
  debug: 'idle',
  log: 'idle',
  info: 'idle',
  warn: 'warn',
  error: 'bad',
}

const LOG_COLUMNS: readonly Column<LogLine>[] = [
  { name: 'Time', cell: ({ at }) => <Age of={at} /> },
  { name: 'Level', cell: ({ level }) => <Status value={level} tone={LEVELS[level]} /> },
  { name: 'Message', cell: ({ message }) => message },
]
