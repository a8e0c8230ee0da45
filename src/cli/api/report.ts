import type { Schemas } from '../../contract/operations.ts'
import { REPORT_COLUMNS, reportCsv } from '../../reports/report-rows.ts'
import { type Command, UsageError } from '../command.ts'
import { type ApiClient, ApiFailure, apiCommand, formatTable, queryOf, toJson } from './api-command.ts'

type Row = Schemas['SpendingReportRow']

/** The shortest time that is divided further, in ms. */
const SHORTEST_MS = 1

/** `relayer report`. */
export const report: Command = apiCommand({
  name: 'report',
  summary: 'Report fees and values by day, relayer and API key.',
  positionals: [],
  usage: '--from <date> --to <date> [--relayer <id>] [--csv]',
  help: [
    'Adds up the transactions that were confirmed between two times, in UTC. --to is exclusive. A date is a day, or a',
    'time such as 2026-11-20T12:00:00Z. Amounts are in the smallest unit of the asset. --csv prints a table for spreadsheets.',
    '',
    'Example: relayer report --from 2026-11-01 --to 2026-12-01 --csv',
  ],
  options: ['from', 'to', 'relayer'],
  flags: ['csv'],
  run: async ({ client, options, flags, json, terminal }) => {
    const query = { from: readTime(options.from, 'from'), to: readTime(options.to, 'to') }
    const rows = await readRows(client, { ...query, relayer: options.relayer })
    if (json) terminal.out(toJson(rows))
    else if (flags.has('csv')) for (const text of reportCsv(rows).trimEnd().split('\r\n')) terminal.out(text)
    else for (const text of formatTable(REPORT_COLUMNS.map(titleOf), rows.map(cellsOf))) terminal.out(text)
    return undefined
  },
})

function readTime(text: string | undefined, option: string): Date {
  const time = new Date(text ?? '')
  if (text === undefined || Number.isNaN(time.getTime()))
    throw new UsageError(
      `--${option}: expected a day such as 2026-11-01, or a time such as 2026-11-01T12:00:00Z.`,
    )
  return time
}

interface Asked {
  readonly from: Date
  readonly to: Date
  readonly relayer: string | undefined
}

/** Divides the time where the service finds it too long for one report. */
async function readRows(client: ApiClient, asked: Asked): Promise<readonly Row[]> {
  const { from, to, relayer } = asked
  const query = queryOf({ from: from.toISOString(), to: to.toISOString(), relayer_id: relayer })
  try {
    return (await client.call<Row[]>('GET', `/reports/spending${query}`)).data
  } catch (error) {
    const ms = to.getTime() - from.getTime()
    if (!(error instanceof ApiFailure) || error.code !== 'report_too_large' || ms <= SHORTEST_MS) throw error
    const middle = new Date(from.getTime() + Math.ceil(ms / 2))
    const earlier = await readRows(client, { ...asked, to: middle })
    return addUp([...earlier, ...(await readRows(client, { ...asked, from: middle }))])
  }
}

/** Both halves can have rows of the same day. */
function addUp(rows: readonly Row[]): Row[] {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const key = [row.day, row.relayer_id, row.requested_by, row.network, row.asset].join(' ')
    const before = sums.get(key)
    sums.set(key, before === undefined ? row : plus(before, row))
  }
  return [...sums.values()]
}

function plus(one: Row, other: Row): Row {
  return {
    ...one,
    value: String(BigInt(one.value) + BigInt(other.value)),
    fees: String(BigInt(one.fees) + BigInt(other.fees)),
    transactions: one.transactions + other.transactions,
    unknown_values: one.unknown_values + other.unknown_values,
    unknown_fees: one.unknown_fees + other.unknown_fees,
    earned: String(BigInt(one.earned) + BigInt(other.earned)),
    unknown_earned: one.unknown_earned + other.unknown_earned,
  }
}

function cellsOf(row: Row): string[] {
  return REPORT_COLUMNS.map((column) => String(row[column] ?? ''))
}

function titleOf(column: string): string {
  return column.toUpperCase().replaceAll('_', ' ')
}
