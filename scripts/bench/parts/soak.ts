import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Anvil } from '../../../test/support/anvil.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { atMost, type Measurement, percentile, type Row, single } from '../measurement.ts'
import { folderMb } from '../support/folder-size.ts'
import { memoryOf } from '../support/process-usage.ts'
import {
  becomes,
  confirmed,
  nonce,
  pause,
  send,
  WARM_UP,
  WITHOUT_LIMITS,
  withAnvil,
  withFolder,
} from '../support/stage.ts'

const QUARTERS = 4

/** Each quarter counts as a day, in seconds, so that events are deleted after it. */
const DAY_SECONDS = 86_400

/** The message that tells of the deletion. */
const DELETED = 'events deleted after their retention time'

/** Time in ms after a quarter until the folder is measured: the checkpoint follows the load. */
const SETTLE_MS = 5_000

/** Time in ms between two looks at the memory. */
const LOOK_MS = 500

/** The last quarter may have this much of the second one: a shared machine is itself not steadier. */
const FLAT = 1.25

/** The state after a quarter of the load. */
interface Quarter {
  /** The most under load. Afterwards V8 gives memory back, sooner or later. */
  readonly residentMb: number
  readonly folderMb: number
  /** Until a request is accepted, under full load. */
  readonly p50: number
  readonly p95: number
}

/** A long run on the embedded database. Memory under load, latency and folder after its quarters; events are kept for a day. */
export async function benchSoak({ transactions }: { transactions: number }): Promise<Row[]> {
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const service = await startProcess({ rpcUrl: anvil.url, folder, env: LEAPING })
      try {
        await send(service, WARM_UP)
        await confirmed(service, WARM_UP)
        const quarters: Quarter[] = []
        const each = transactions / QUARTERS
        for (let index = 1; index <= QUARTERS; index += 1) {
          const [before, upTo] = [WARM_UP + (index - 1) * each, WARM_UP + index * each]
          quarters.push(await oneQuarter({ anvil, service, folder, before, upTo }))
        }
        const lost = WARM_UP + transactions - (await nonce(anvil, 'latest'))
        return rowsOf(quarters, { transactions, lost })
      } finally {
        await service.terminate()
      }
    }),
  )
}

const LEAPING = {
  ...WITHOUT_LIMITS,
  RELAYER_EVENT_RETENTION_DAYS: '1',
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('../support/day-later.ts', import.meta.url))}`,
}

interface Soaked {
  readonly anvil: Anvil
  readonly service: ServiceProcess
  readonly folder: string
  readonly before: number
  readonly upTo: number
}

async function oneQuarter({ anvil, service, folder, before, upTo }: Soaked): Promise<Quarter> {
  const memory = watchMemory(service)
  const latencies = await send(service, upTo - before)
  await confirmed(service, upTo)
  const residentMb = await memory.most()
  await passDay(anvil, service)
  await pause(SETTLE_MS)
  return {
    residentMb,
    folderMb: await folderMb(join(folder, 'data')),
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
  }
}

/** Looks at the resident memory again and again, until it is asked for the most of it, in MB. */
function watchMemory(service: ServiceProcess): { most(): Promise<number> } {
  const ended = new AbortController()
  async function look(): Promise<number> {
    let most = 0
    while (!ended.signal.aborted) {
      most = Math.max(most, (await memoryOf(service)).resident)
      await pause(LOOK_MS)
    }
    return most
  }
  const looking = look()
  return {
    most: () => {
      ended.abort()
      return looking
    },
  }
}

/** A day passes for the service and for the chain, and the service deletes the events of the day before. */
async function passDay(anvil: Anvil, { child }: ServiceProcess): Promise<void> {
  let deleted = false
  const look = (chunk: Buffer) => {
    deleted ||= chunk.includes(DELETED)
  }
  child.stdout?.on('data', look)
  await anvil.rpc('evm_increaseTime', [DAY_SECONDS])
  child.kill('SIGUSR2')
  await becomes(async () => deleted, 100)
  child.stdout?.off('data', look)
}

function rowsOf(
  quarters: readonly Quarter[],
  { transactions, lost }: { readonly transactions: number; readonly lost: number },
): Row[] {
  const what = `soak, ${transactions} transactions in four quarters, embedded`
  const values = (key: keyof Quarter) => quarters.map((quarter) => quarter[key])
  const growth = values('folderMb').map((mb, index, all) => mb - (all[index - 1] ?? 0))
  return [
    flat(`${what}: resident under load, the most`, values('residentMb'), 'MB'),
    flat(`${what}: accepted under full load, p50`, values('p50'), 'ms'),
    flat(`${what}: accepted under full load, p95`, values('p95'), 'ms'),
    flat(`${what}: growth of the folder, events kept for one quarter`, growth, 'MB'),
    single(`${what}: lost`, lost, { unit: '', limit: 0 }),
  ]
}

/** A number that may not grow: the one of the last quarter beside that of the second, because the first one warms up. */
function flat(what: string, values: readonly number[], unit: string): Measurement {
  const [, second = Number.NaN] = values
  const last = values.at(-1) ?? Number.NaN
  return {
    what: `${what}; bare: the second quarter`,
    ours: `${values.map((value) => value.toFixed(0)).join(', ')} ${unit}`,
    bare: `${second.toFixed(0)} ${unit}`,
    value: last / second,
    goal: atMost(FLAT),
  }
}
