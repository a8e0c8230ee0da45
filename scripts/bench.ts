/**
 * `npm run bench`: the service beside bare counterparts, as ratios of one run, because absolute numbers say more about the
 * machine than about the code. Without arguments all parts run; `npm run bench -- http send writes deliveries start idle lists` names some,
 * `--transactions=5000`, `--rows=1000000` and `--relayers=5000` set how many are sent, how many are stored and how many do nothing. No test: the exit code is 0
 * whatever the ratios are.
 */
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchDeliveries } from './bench/deliveries.ts'
import { benchHttp } from './bench/http.ts'
import { benchIdle } from './bench/idle.ts'
import { benchLists } from './bench/lists.ts'
import type { Measurement } from './bench/measurement.ts'
import { benchSend } from './bench/send.ts'
import { benchStart } from './bench/start.ts'
import { table } from './bench/table.ts'
import { benchWrites } from './bench/writes.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    transactions: { type: 'string', default: '5000' },
    rows: { type: 'string', default: '100000' },
    relayers: { type: 'string', default: '5000' },
  },
})

const PARTS: Readonly<Record<string, () => Promise<Measurement[]>>> = {
  http: benchHttp,
  send: () => benchSend({ transactions: Number(values.transactions) }),
  writes: () => benchWrites({ transactions: Number(values.transactions) }),
  deliveries: () => benchDeliveries({ transactions: Number(values.transactions) }),
  start: benchStart,
  idle: () => benchIdle({ relayers: Number(values.relayers) }),
  lists: () => benchLists({ rows: Number(values.rows) }),
}

const chosen = positionals.length === 0 ? Object.keys(PARTS) : positionals
const measurements: Measurement[] = []
for (const name of chosen) {
  const part = PARTS[name]
  if (part === undefined)
    throw new Error(`There is no part "${name}"; there are ${Object.keys(PARTS).join(', ')}.`)
  console.error(`${name} ...`)
  measurements.push(...(await part()))
}
console.log(
  `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}\n`,
)
console.log(table(measurements))
