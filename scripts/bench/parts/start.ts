import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Anvil } from '../../../test/support/anvil.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { startProcess } from '../../../test/support/process.ts'
import { percentile, type Row, single, withoutPostgres } from '../measurement.ts'
import { memoryOf } from '../support/process-usage.ts'
import { pause, send, WITHOUT_LIMITS, withAnvil, withFolder } from '../support/stage.ts'

/** Starts of each kind; the median counts. */
const STARTS = 5

/** Time in ms after which a service without requests is taken as idle. */
const IDLE_AFTER_MS = 10_000

/** Transactions of the load that makes the service compile what it needs. */
const LOAD = 1_000

const START_ON_POSTGRES = 'start until ready, PostgreSQL'
const IDLE_ON_POSTGRES = 'resident when idle, PostgreSQL'

/** The places where a service keeps its data. */
interface Place {
  readonly anvil: Anvil
  readonly folder: string
  readonly env: Record<string, string>
}

/** Time to readiness, and memory, of the service as a process of its own. Linux only. */
export async function benchStart(): Promise<Row[]> {
  return withFolder((folder) =>
    withAnvil(async (anvil) => [
      ...(await measureEmbedded(anvil, folder)),
      ...(await measurePostgres(anvil, folder)),
    ]),
  )
}

async function measureEmbedded(anvil: Anvil, folder: string): Promise<Row[]> {
  const env = { DURABILITY: 'full', ...WITHOUT_LIMITS }
  const empty: number[] = []
  for (let count = 0; count < STARTS; count += 1) {
    const place = { anvil, folder: join(folder, `empty-${count}`), env }
    await mkdir(join(place.folder, 'data'), { recursive: true })
    empty.push(await startAndStop(place))
  }
  const place = { anvil, folder: join(folder, 'empty-0'), env }
  const warm = await timesOf(STARTS, () => startAndStop(place))
  const { idle, peak } = await use(place)
  return [
    single('start until ready, embedded, empty folder', percentile(empty, 0.5), { unit: 'ms', limit: 3_000 }),
    single('start until ready, embedded, warm', percentile(warm, 0.5), { unit: 'ms', limit: 2_000 }),
    single(`peak of a start and ${LOAD} transactions, embedded`, peak, { unit: 'MB', limit: 450 }),
    single('resident when idle, embedded', idle, { unit: 'MB', limit: 280 }),
  ]
}

async function measurePostgres(anvil: Anvil, folder: string): Promise<Row[]> {
  if (!hasPostgres()) return withoutPostgres(START_ON_POSTGRES, IDLE_ON_POSTGRES)
  const postgres = await startPostgres()
  try {
    const env = { DATABASE_URL: await postgres.createDatabase(), ...WITHOUT_LIMITS }
    const place = { anvil, folder: join(folder, 'postgres'), env }
    await startAndStop(place)
    const warm = await timesOf(STARTS, () => startAndStop(place))
    const { idle } = await use(place)
    return [
      single(START_ON_POSTGRES, percentile(warm, 0.5), { unit: 'ms', limit: 800 }),
      single(IDLE_ON_POSTGRES, idle, { unit: 'MB', limit: 150 }),
    ]
  } finally {
    await postgres.stop()
  }
}

async function startAndStop({ anvil, ...place }: Place): Promise<number> {
  const start = performance.now()
  const service = await startProcess({ rpcUrl: anvil.url, ...place })
  const ready = performance.now() - start
  await service.terminate()
  return ready
}

/** Memory of a service that was just started, and the most that it has until the end of a load. */
async function use({ anvil, ...place }: Place): Promise<{ idle: number; peak: number }> {
  const service = await startProcess({ rpcUrl: anvil.url, ...place })
  await pause(IDLE_AFTER_MS)
  const { resident: idle } = await memoryOf(service)
  await send(service, LOAD)
  const { peak } = await memoryOf(service)
  await service.terminate()
  return { idle, peak }
}

async function timesOf(count: number, measure: () => Promise<number>): Promise<number[]> {
  const results: number[] = []
  while (results.length < count) results.push(await measure())
  return results
}
