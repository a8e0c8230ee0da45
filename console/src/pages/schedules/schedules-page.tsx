import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { shorten } from '../../format/shorten.ts'
import { formatMinute } from '../../format/times.ts'
import { forEachAtMost } from '../../live/for-each-at-most.ts'
import { type CurrencyOf, useCurrencies } from '../../live/use-currencies.ts'
import { useLiveReload } from '../../live/use-live.ts'
import { useLoad } from '../../live/use-load.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Json } from '../../parts/json.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import { Status } from '../../parts/status.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { hrefOfRelayer, hrefOfTransaction, type Route } from '../../routing/routes.ts'
import { useOffers, useWorkplace } from '../../session/session-context.ts'
import { type Coming, comingOf, DAYS, MOST_RUNS, networkTypeOf } from './coming.ts'

type Schedule = Schemas['Schedule']

/** The most schedules whose next runs are asked for at the same time. */
const AT_A_TIME = 5

const WRITE = 'transactions:write'
const APPROVE = 'transactions:approve'

/** The page of schedules, with the cost of the next days. */
export function SchedulesPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const offers = useOffers()
  const rows = usePage<Schedule>({
    route,
    keys: ['schedules'],
    load: (query) => client.schedules.list(query).page(),
    changesWith: ({ type }) => type === 'schedule_update' || type === 'transaction_update',
  })
  const actions: Column<Schedule> = {
    name: 'Change',
    cell: (schedule) => <Actions schedule={schedule} onDone={rows.reload} />,
  }
  const canAct = offers(WRITE) || offers(APPROVE)
  return (
    <Page title="Schedules">
      <ComingPanel />
      <PagedTable
        caption="Schedules"
        empty="Nothing is sent by a schedule. Create one over the API, or with: relayer schedule create"
        columns={canAct ? [...COLUMNS, actions] : COLUMNS}
        keyOf={({ id }) => id}
        route={route}
        rows={rows}
      />
    </Page>
  )
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    name: 'Schedule',
    cell: ({ id, name, relayer_id }) => (
      <>
        {name ?? <code title={id}>{shorten(id)}</code>}
        <div class="why">
          <a href={hrefOfRelayer(relayer_id)}>{relayer_id}</a>
        </div>
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ state, state_reason: reason }) => (
      <>
        <Status value={state} tone={TONES[state]} />
        {reason && <div class="why">{reason}</div>}
      </>
    ),
  },
  {
    name: 'When',
    cell: ({ cron, timezone }) => (
      <>
        <code>{cron}</code>
        <div class="why">{timezone}</div>
      </>
    ),
  },
  { name: 'Next', cell: ({ next_at }) => (next_at ? formatMinute(next_at) : <span class="muted">–</span>) },
  { name: 'Sends', isExtra: true, cell: ({ transaction }) => <Json value={transaction} name="content" /> },
  {
    name: 'Sent',
    isNumber: true,
    cell: ({ runs, max_runs, relayer_id, last_transaction_id: last }) => (
      <>
        {max_runs === undefined ? runs : `${runs} of ${max_runs}`}
        {last && (
          <div class="why">
            <a href={hrefOfTransaction(relayer_id, last)}>last</a>
          </div>
        )}
      </>
    ),
  },
  { name: 'In the name of', isExtra: true, cell: ({ api_key_id }) => api_key_id },
]

const TONES = { active: 'good', paused: 'idle', awaiting_approval: 'warn', completed: 'idle' } as const

interface ActionsProps {
  readonly schedule: Schedule
  readonly onDone: () => void
}

function Actions({ schedule, onDone }: ActionsProps) {
  const { client, key } = useWorkplace().session
  const { id, relayer_id: relayer, state, version, api_key_id: owner, approval_reasons: reasons } = schedule
  const decide = (decision: 'approve' | 'refuse') => () =>
    client.schedules.decide(relayer, id, { decision, version })
  const change = (paused: boolean) => () => client.schedules.update(relayer, id, { paused })
  const isDecidable = state === 'awaiting_approval' && owner !== key.id
  return (
    <div class="buttons">
      {isDecidable && (
        <>
          <ActionButton name="Approve" scope={APPROVE} act={decide('approve')} onDone={onDone}>
            {reasons?.map((reason) => (
              <p key={reason}>{reason}</p>
            ))}
            <Json value={schedule.transaction} name="content" />
            <p>No run waits for these reasons any more, until the schedule is changed.</p>
          </ActionButton>
          <ActionButton name="Refuse" scope={APPROVE} isDangerous act={decide('refuse')} onDone={onDone}>
            <p>The schedule is paused.</p>
          </ActionButton>
        </>
      )}
      {state === 'active' && (
        <ActionButton name="Pause" scope={WRITE} act={change(true)} onDone={onDone}>
          <p>Nothing is sent until the schedule is resumed. Transactions that were sent stay.</p>
        </ActionButton>
      )}
      {state === 'paused' && key.person === undefined && (
        <ActionButton name="Resume" scope={WRITE} act={change(false)} onDone={onDone}>
          <p>It sends in the name of this API key from then on. The times of the pause are not missed.</p>
        </ActionButton>
      )}
      <ActionButton
        name="Delete"
        scope={WRITE}
        isDangerous
        act={() => client.schedules.delete(relayer, id)}
        onDone={onDone}
      >
        <p>The record of its runs is deleted with it. Transactions that were sent stay.</p>
      </ActionButton>
    </div>
  )
}

function ComingPanel() {
  const currencyOf = useCurrencies()
  const coming = useComing()
  return (
    <Panel title={`What will be sent in the next ${DAYS} days`}>
      <WhenLoaded loaded={coming}>
        {(found) => (
          <Table
            caption="What will be sent"
            columns={comingColumns(currencyOf)}
            rows={found}
            keyOf={({ schedule }) => schedule.id}
            empty={`No schedule runs in the next ${DAYS} days.`}
          />
        )}
      </WhenLoaded>
    </Panel>
  )
}

function comingColumns(currencyOf: CurrencyOf): readonly Column<Coming>[] {
  return [
    { name: 'First', cell: ({ first }) => formatMinute(first) },
    { name: 'Schedule', cell: ({ schedule: { id, name } }) => name ?? <code title={id}>{shorten(id)}</code> },
    { name: 'Relayer', cell: ({ schedule: { relayer_id: id } }) => <a href={hrefOfRelayer(id)}>{id}</a> },
    {
      name: 'Runs',
      isNumber: true,
      cell: ({ count, isMore }) => (isMore ? `${count} or more` : count),
    },
    {
      name: 'Costs at most',
      isNumber: true,
      cell: ({ schedule, cost, isMore }) => (
        <>
          {isMore && 'more than '}
          <Amount
            of={cost}
            currency={currencyOf({ relayer_id: schedule.relayer_id, network_type: networkTypeOf(schedule) })}
          />
        </>
      ),
    },
  ]
}

/** Loads the next runs of the active schedules, the earliest first. */
function useComing() {
  const { client } = useWorkplace().session
  const coming = useLoad(
    async (signal) => {
      const active = await Array.fromAsync(client.schedules.list({ state: 'active', per_page: 100, signal }))
      const found: Coming[] = []
      await forEachAtMost(active, { limit: AT_A_TIME, signal }, async (schedule) => {
        const { relayer_id: relayer, id } = schedule
        const times = await client.schedules.listNextRuns(relayer, id, { count: MOST_RUNS, signal })
        const one = comingOf(schedule, times, Date.now())
        if (one !== undefined) found.push(one)
      })
      return found.sort((one, other) => (one.first < other.first ? -1 : 1))
    },
    ['coming runs'],
  )
  useLiveReload(({ type }) => type === 'schedule_update', coming.reload)
  return coming
}
