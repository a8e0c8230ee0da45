import { useState } from 'preact/hooks'
import { stringifyJson } from '../../../../clients/typescript/src/exact-json.ts'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { nameOfPerson } from '../../format/person.ts'
import { formatTime } from '../../format/times.ts'
import { useLoad } from '../../live/use-load.ts'
import { Json } from '../../parts/json.tsx'
import { Failure } from '../../parts/notice.tsx'
import { OlderPager } from '../../parts/older-pager.tsx'
import { Page } from '../../parts/page.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { hrefOf, hrefOfRelayer, hrefOfTransaction, type Route } from '../../routing/routes.ts'
import { changeQuery } from '../../routing/use-route.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { actionOf, toCsv } from './audit-words.ts'

type Entry = Schemas['AuditEntry']

const TARGETS = [
  'relayer',
  'signer',
  'notification',
  'network',
  'transaction',
  'api_key',
  'session',
  'proposal',
  'deployment',
] as const
const ROWS = 50

const COLUMNS: readonly Column<Entry>[] = [
  { name: 'When', cell: ({ at }) => <time dateTime={at}>{formatTime(at)}</time> },
  { name: 'Who', cell: ({ actor, person, address }) => <Who {...{ actor, person, address }} /> },
  {
    name: 'What',
    cell: (entry) => <What entry={entry} />,
  },
  { name: 'Change', isExtra: true, cell: ({ before, after }) => <Change before={before} after={after} /> },
]

/** Who changed, sent and signed what, newest first. */
export function AuditPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const { actor, before } = route.query
  const target = TARGETS.find((known) => known === route.query.target)
  const filter = {
    ...(actor && { actor }),
    ...(before && { before }),
    ...(target && { target_type: target }),
  }
  const entries = useLoad((signal) => client.audit.list({ ...filter, limit: ROWS, signal }).page(), [filter])
  return (
    <Page title="Audit log" actions={<Export filter={filter} />}>
      <div class="filters">
        <label>
          Who
          <input
            value={actor ?? ''}
            placeholder="id of a key or person, root …"
            onChange={(event) => changeQuery(route, { actor: event.currentTarget.value.trim() })}
          />
        </label>
        <label>
          Record
          <select
            value={target ?? ''}
            onChange={(event) => changeQuery(route, { target: event.currentTarget.value })}
          >
            <option value="">all</option>
            {TARGETS.map((known) => (
              <option key={known} value={known}>
                {known.replace('_', ' ')}
              </option>
            ))}
          </select>
        </label>
      </div>
      <WhenLoaded loaded={entries}>
        {({ items }) => (
          <>
            <Table
              caption="Audit log"
              columns={COLUMNS}
              rows={items}
              keyOf={({ id }) => id}
              empty="No entries."
            />
            <OlderPager
              route={route}
              name="before"
              next={items.length === ROWS ? items.at(-1)?.id : undefined}
            />
          </>
        )}
      </WhenLoaded>
    </Page>
  )
}

function What({ entry }: { readonly entry: Entry }) {
  const { action, target_type, target_id, chain } = entry
  const href = hrefOfTarget({ target_type, target_id, chain })
  return (
    <>
      <span title={action}>{actionOf(entry)}</span>
      <div class="why">
        {target_type.replace('_', ' ')} {href === undefined ? target_id : <a href={href}>{target_id}</a>}
      </div>
    </>
  )
}

/** The chain of an entry about a transaction names its relayer. */
function hrefOfTarget({
  target_type: type,
  target_id: id,
  chain,
}: Pick<Entry, 'target_type' | 'target_id' | 'chain'>) {
  if (type === 'transaction') return hrefOfTransaction(chain.replace('relayer:', ''), id)
  if (type === 'relayer') return hrefOfRelayer(id)
  if (type === 'notification') return hrefOf(['notifications', id])
  return type === 'api_key' ? hrefOf(['api-keys', id]) : undefined
}

/** Entries in a file, for what it needs of the memory of the page. */
const MOST_EXPORTED = 10_000

interface ExportProps {
  readonly filter: { readonly actor?: string; readonly target_type?: (typeof TARGETS)[number] }
}

/**
 * Writes the entries that the filter finds into a file, as the API gives them, or as a table without their
 * changes.
 */
function Export({ filter: { actor, target_type } }: ExportProps) {
  const { client } = useWorkplace().session
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const filter = { ...(actor && { actor }), ...(target_type && { target_type }) }
  const save = async (extension: 'json' | 'csv') => {
    setBusy(true)
    setError(undefined)
    try {
      const entries: Entry[] = []
      for await (const entry of client.audit.list({ ...filter, limit: 100 })) {
        entries.push(entry)
        if (entries.length === MOST_EXPORTED) break
      }
      saveFile(`audit-log.${extension}`, extension === 'csv' ? toCsv(entries) : stringifyJson(entries))
    } catch (failure) {
      setError(failure)
    }
    setBusy(false)
  }
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => save('json')}>
        Export JSON
      </button>
      <button type="button" disabled={isBusy} onClick={() => save('csv')}>
        Export CSV
      </button>
      {error !== undefined && <Failure error={error} />}
    </>
  )
}

interface WhoProps {
  readonly actor: string
  readonly person: Schemas['Person'] | undefined
  readonly address: string | undefined
}

function Who({ actor, person, address }: WhoProps) {
  return (
    <>
      {person === undefined ? actor : <span title={actor}>{nameOfPerson(person)}</span>}
      {address && <div class="why">{address}</div>}
    </>
  )
}

function Change({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  if (before === undefined && after === undefined) return <span class="muted">–</span>
  return (
    <details>
      <summary>Show</summary>
      {before !== undefined && <Json value={before} name="Before" />}
      {after !== undefined && <Json value={after} name="After" />}
    </details>
  )
}
