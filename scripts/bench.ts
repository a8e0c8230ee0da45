/**
 * `npm run bench`: the service beside bare counterparts, as ratios of one run, because absolute numbers say more about the
 * machine than about the code. Without arguments all parts run; `npm run bench -- http send send-postgres …` names some. `--sent=50000`,
 * `--transactions=5000`, `--stored=50000`, `--soak=200000`, `--rows=1000000` and `--relayers=5000` set how many are sent by the parts `send`
 * and `send-postgres`, are sent by the others, are stored before a kill, are sent by the long run, are stored for lists, and do nothing.
 * `--record` adds a run to `bench/history.jsonl`: a complete one, or the last one with the new rows of the named parts. `--note=…` says the
 * conditions of a complete run. No test: the exit code is 0 whatever the numbers are, and 1 when a part failed; such a run is not recorded.
 */
import { benchOpen } from './bench/large/restart.ts'
import type { Row } from './bench/measurement.ts'
import { benchAccounts } from './bench/parts/accounts.ts'
import { benchCalls } from './bench/parts/calls.ts'
import { benchDeliveries } from './bench/parts/deliveries.ts'
import { benchFirstRequests } from './bench/parts/first-requests.ts'
import { benchHealth } from './bench/parts/health.ts'
import { benchHttp } from './bench/parts/http.ts'
import { benchIdle } from './bench/parts/idle.ts'
import { benchKms } from './bench/parts/kms.ts'
import { benchLarge } from './bench/parts/large.ts'
import { benchLists } from './bench/parts/lists.ts'
import { benchPlugins } from './bench/parts/plugins.ts'
import { benchProcesses } from './bench/parts/processes.ts'
import { benchRestart } from './bench/parts/restart.ts'
import { benchSend } from './bench/parts/send.ts'
import { benchSendOnPostgres } from './bench/parts/send-postgres.ts'
import { benchSoak } from './bench/parts/soak.ts'
import { benchStart } from './bench/parts/start.ts'
import { benchStreams } from './bench/parts/streams.ts'
import { benchX402 } from './bench/parts/x402.ts'
import { readLastRun, recordRun } from './bench/report/history.ts'
import { describeRegressions } from './bench/report/regressions.ts'
import { describeMachine, runOf, withNewerRows } from './bench/report/run.ts'
import { table } from './bench/report/table.ts'
import { readOptions } from './read-options.ts'

const { values, positionals } = readOptions({
  allowPositionals: true,
  options: {
    sent: { type: 'string', default: '50000' },
    transactions: { type: 'string', default: '5000' },
    stored: { type: 'string', default: '50000' },
    soak: { type: 'string' },
    rows: { type: 'string' },
    server: { type: 'string' },
    open: { type: 'string', default: '100000' },
    database: { type: 'string' },
    relayers: { type: 'string', default: '5000' },
    record: { type: 'boolean', default: false },
    note: { type: 'string' },
  },
})

/** The long run has this many transactions when it is named, and this many as a part of the complete run. */
const SOAK = positionals.includes('soak') ? 200_000 : 20_000

/** The first thousands include what V8 compiles, so that they say more about a start than about sending. */
const sent = Number(values.sent)
const transactions = Number(values.transactions)
const PARTS: Readonly<Record<string, () => Promise<Row[]>>> = {
  http: benchHttp,
  send: () => benchSend({ transactions: sent }),
  accounts: () => benchAccounts({ transactions }),
  'send-postgres': () => benchSendOnPostgres({ transactions: sent }),
  kms: () => benchKms({ transactions }),
  calls: () => benchCalls({ transactions, relayers: Number(values.relayers) }),
  deliveries: () => benchDeliveries({ transactions }),
  first: benchFirstRequests,
  health: () => benchHealth({ transactions }),
  plugins: benchPlugins,
  processes: benchProcesses,
  start: benchStart,
  restart: () => benchRestart({ stored: Number(values.stored) }),
  streams: benchStreams,
  soak: () => benchSoak({ transactions: Number(values.soak ?? SOAK) }),
  idle: () => benchIdle({ relayers: Number(values.relayers) }),
  lists: () => benchLists({ rows: Number(values.rows ?? 100_000) }),
  x402: benchX402,
}

/** Parts that a complete run leaves out, because they take the disk and the time of a hundred others. */
const ONLY_BY_NAME: typeof PARTS = {
  large: () => benchLarge({ rows: Number(values.rows ?? 10_000_000), serverUrl: values.server }),
  open: () => benchOpen({ open: Number(values.open), databaseUrl: values.database }),
}

const ALL = { ...PARTS, ...ONLY_BY_NAME }
const chosen = positionals.length === 0 ? Object.keys(PARTS) : positionals
const unknown = chosen.find((name) => ALL[name] === undefined)
if (unknown !== undefined)
  throw new Error(`There is no part "${unknown}"; there are ${Object.keys(ALL).join(', ')}.`)

/** A part that fails takes nothing from the others. */
async function rowsOf(name: string): Promise<Row[]> {
  try {
    return (await ALL[name]?.()) ?? []
  } catch (error) {
    console.error(error)
    process.exitCode = 1
    return [{ what: name, reason: 'failed' }]
  }
}

// The whole build: a program that is not current would run from its sources, and without the contract as JSON and the initial database it
// would parse YAML and create a database at each start.
await import('./prepare.ts')
const rows: Row[] = []
for (const name of chosen) {
  console.error(`${name} ...`)
  const start = performance.now()
  rows.push(...(await rowsOf(name)))
  console.error(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s`)
}
const run = runOf(rows, values.note)
console.log(`${describeMachine(run)}\n\n${table(rows)}\n`)
const last = readLastRun()
console.log(describeRegressions(run, last))
if (values.record && process.exitCode === undefined)
  recordRun(last === undefined || positionals.length === 0 ? run : withNewerRows(last, run))
