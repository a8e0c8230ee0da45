import { useMemo, useState } from 'preact/hooks'
import { formatExact, formatShort } from '../../format/amounts.ts'
import { formatTime } from '../../format/times.ts'
import { useLoad } from '../../live/use-load.ts'
import { type Networks, useNetworks } from '../../live/use-networks.ts'
import { BarChart, type BarChartProps } from '../../parts/bar-chart.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Panel } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { hrefOf, hrefOfRelayer } from '../../routing/routes.ts'
import { currencyOfId } from '../../rules/rules.ts'
import { useWorkplace } from '../../session/session-context.ts'
import {
  type ActivityGroup,
  type ActivityStep,
  formatWait,
  groupsOf,
  PERIODS,
  rangeOf,
  stepsOf,
} from './activity.ts'

type PeriodName = keyof typeof PERIODS
type By = 'network' | 'relayer' | 'api_key'

const BY = { network: 'together', relayer: 'by relayer', api_key: 'by API key' } as const satisfies Record<
  By,
  string
>

/** The most groups that are drawn. Each has three charts. */
const MOST_GROUPS = 12

/** Shows over time how much was sent, its cost and its waits, to keys that may read transactions. */
export function ActivityPanel() {
  return useWorkplace().session.may('transactions:read') ? <Activity /> : null
}

function Activity() {
  const { session } = useWorkplace()
  const [periodName, setPeriod] = useState<PeriodName>('day')
  const [by, setBy] = useState<By>('network')
  const period = PERIODS[periodName]
  const loaded = useLoad(
    async (signal) => {
      const now = Date.now()
      const query = { ...rangeOf(period, now), step: period.step, by }
      return { now, by, period, ...(await session.client.reports.getActivity({ ...query, signal })) }
    },
    ['activity', periodName, by],
  )
  const chosen = (
    <>
      <label>
        <span class="unseen">Period</span>
        <select value={periodName} onChange={(event) => setPeriod(event.currentTarget.value as PeriodName)}>
          {Object.entries(PERIODS).map(([key, { name }]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span class="unseen">Counted</span>
        <select value={by} onChange={(event) => setBy(event.currentTarget.value as By)}>
          {Object.entries(BY).map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </>
  )
  return (
    <Panel title="Activity" actions={chosen}>
      <WhenLoaded loaded={loaded}>
        {({ rows, complete_from, ...asked }) => (
          <>
            {complete_from !== undefined && (
              <Notice tone="idle">
                There is more than fits into one report: what was accepted before {formatTime(complete_from)}{' '}
                is not counted.
              </Notice>
            )}
            <Groups groups={groupsOf(rows, stepsOf(asked.period, asked.now), asked.by)} by={asked.by} />
          </>
        )}
      </WhenLoaded>
    </Panel>
  )
}

function Groups({ groups, by }: { readonly groups: readonly ActivityGroup[]; readonly by: By }) {
  const networks = useNetworks()
  if (groups.length === 0) return <p class="muted empty">No transactions in this period.</p>
  return (
    <ul class="activity">
      {groups.slice(0, MOST_GROUPS).map((group) => (
        <li key={`${group.network} ${group.name}`}>
          <Group group={group} by={by} networks={networks} />
        </li>
      ))}
    </ul>
  )
}

interface GroupProps {
  readonly group: ActivityGroup
  readonly by: By
  readonly networks: Networks
}

function Group({ group, by, networks: { all } }: GroupProps) {
  const { network, name, steps, sent, failed, fees } = group
  const { symbol, decimals } = currencyOfId(network, all) ?? { symbol: 'base units', decimals: 0 }
  const of = name === undefined ? network : `${name} on ${network}`
  const coins = (amount: bigint) => `${formatShort(amount, decimals)} ${symbol}`
  const waits = steps.flatMap(({ median, p95 }) =>
    median === undefined || p95 === undefined ? [] : { median, p95 },
  )
  const slowest = Math.max(0, ...waits.map(({ p95 }) => p95))
  const slowestMedian = Math.max(0, ...waits.map(({ median }) => median))
  const wait = waits.length === 0 ? 'none included' : `median up to ${formatWait(slowestMedian)}`
  // Bars are drawn with floating point, which is exact enough for a height; the table has every digit.
  const most = highestOf(steps.map(({ fees: value }) => value))
  return (
    <>
      <h3>
        <GroupName group={group} by={by} />
      </h3>
      <div class="charts">
        <Chart
          name="Sent"
          words={`${sent}${failed > 0 ? `, ${failed} failed` : ''}`}
          label={`Transactions of ${of} over time: ${sent} in all, ${failed} failed.`}
          bars={steps.map(({ start, sent: value, failed: part }) => ({
            title: `${timeOf(start)}: ${value}`,
            value,
            part,
          }))}
          partIs="bad"
        />
        <Chart
          name="Fees"
          words={coins(fees)}
          label={`Fees of ${of} over time: ${coins(fees)} in all.`}
          bars={steps.map(({ start, fees: value }) => ({
            title: `${timeOf(start)}: ${coins(value)}`,
            value: Number((value * 10_000n) / most),
            part: Number((value * 10_000n) / most),
          }))}
          partIs="own"
        />
        <Chart
          name="Wait for a block"
          words={wait}
          label={`Wait of ${of} for a block over time: ${wait}, 95 % up to ${formatWait(slowest)}.`}
          bars={steps.map(({ start, median, p95 }) => ({
            title: `${timeOf(start)}: ${median === undefined ? 'none' : `${formatWait(median)}, 95 % up to ${formatWait(p95 ?? median)}`}`,
            value: p95 ?? 0,
            part: median ?? 0,
          }))}
          partIs="own"
        />
      </div>
      <Numbers group={group} decimals={decimals} symbol={symbol} of={of} />
    </>
  )
}

/** 1 at least, because it divides. */
function highestOf(amounts: readonly bigint[]): bigint {
  let highest = 1n
  for (const amount of amounts) if (amount > highest) highest = amount
  return highest
}

const timeOf = (start: number) => formatTime(new Date(start).toISOString())

function GroupName({ group: { network, name }, by }: Pick<GroupProps, 'group' | 'by'>) {
  if (name === undefined) return network
  const isId = /^\S+$/.test(name)
  const href = by === 'relayer' ? hrefOfRelayer(name) : hrefOf(['api-keys', name])
  return (
    <>
      {isId ? <a href={href}>{name}</a> : name} <span class="muted">{network}</span>
    </>
  )
}

interface ChartProps extends BarChartProps {
  readonly name: string
  readonly words: string
}

function Chart({ name, words, ...chart }: ChartProps) {
  return (
    <figure>
      <figcaption>
        <span class="muted">{name}</span> <span>{words}</span>
      </figcaption>
      <BarChart {...chart} />
    </figure>
  )
}

interface NumbersProps {
  readonly group: ActivityGroup
  readonly symbol: string
  readonly decimals: number
  readonly of: string
}

/** The same as a table, for who cannot see the charts, or wants the digits. */
function Numbers({ group, symbol, decimals, of }: NumbersProps) {
  const [isOpen, setOpen] = useState(false)
  const columns = useMemo(
    (): readonly Column<ActivityStep>[] => [
      { name: 'From', cell: ({ start }) => timeOf(start) },
      { name: 'Sent', isNumber: true, cell: ({ sent }) => sent },
      { name: 'Failed', isNumber: true, cell: ({ failed }) => failed },
      { name: `Fees (${symbol})`, isNumber: true, cell: ({ fees }) => formatExact(fees, decimals) },
      {
        name: 'Median wait',
        isNumber: true,
        cell: ({ median }) => (median === undefined ? '–' : formatWait(median)),
      },
      { name: '95 % wait', isNumber: true, cell: ({ p95 }) => (p95 === undefined ? '–' : formatWait(p95)) },
    ],
    [symbol, decimals],
  )
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Numbers</summary>
      {isOpen && (
        <Table
          caption={`Activity of ${of}`}
          columns={columns}
          rows={group.steps.filter(({ sent }) => sent > 0).toReversed()}
          keyOf={({ start }) => String(start)}
          empty="No transactions in this period."
        />
      )}
    </details>
  )
}
