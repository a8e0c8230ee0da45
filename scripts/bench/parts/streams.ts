import type { Anvil } from '../../../test/support/anvil.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { callService } from '../../../test/support/service.ts'
import { atMost, type Row, single, withoutPostgres } from '../measurement.ts'
import { sendPaced } from '../support/paced-sends.ts'
import { memoryOf } from '../support/process-usage.ts'
import {
  becomes,
  confirmed,
  cpuMs,
  portOf,
  send,
  WARM_UP,
  WITHOUT_LIMITS,
  withAnvil,
  withFolder,
} from '../support/stage.ts'
import { createReaderKeys, openStreamReaders } from '../support/stream-readers.ts'

const KEYS = 25
const STREAMS_OF_KEY = 80
const STREAMS = KEYS * STREAMS_OF_KEY

/**
 * Sends of a measurement, one after the other, and the time in ms between two of them: what a service does on
 * most days.
 */
const SENDS = 60
const BETWEEN_MS = 200

/** Sends that the readers miss, and sends while they come back. */
const MISSED = 20
const SENDS_OF_RETURN = 30

/**
 * Sending with two thousand readers of all events, and with none; and what their return after a kill costs
 * those who send.
 */
export async function benchStreams(): Promise<Row[]> {
  const embedded = await benchOn({ label: 'embedded' })
  if (!hasPostgres()) return [...embedded, ...withoutPostgres('2000 streams on PostgreSQL')]
  const postgres = await startPostgres()
  try {
    const databaseUrl = await postgres.createDatabase()
    return [...embedded, ...(await benchOn({ label: 'on PostgreSQL', databaseUrl }))]
  } finally {
    await postgres.stop()
  }
}

interface Engine {
  /** Ends the name of each row. */
  readonly label: string
  /** Absent for the embedded database. */
  readonly databaseUrl?: string
}

async function benchOn(engine: Engine): Promise<Row[]> {
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const place = { ...engine, anvil, folder }
      const first = await measureOpen(place)
      const rows = [...first.rows, ...(await measureReturn(place, first))]
      return rows.map((row) => ({ ...row, what: `${row.what}; ${engine.label}` }))
    }),
  )
}

interface Place extends Engine {
  readonly anvil: Anvil
  readonly folder: string
}

/** What the readers of a killed service have, and the number of transactions that it has sent. */
interface Killed {
  readonly keys: readonly string[]
  readonly cursors: readonly string[]
  readonly sent: number
}

async function measureOpen(place: Place): Promise<Killed & { readonly rows: Row[] }> {
  const service = await start(place)
  try {
    await send(service, WARM_UP)
    await confirmed(service, WARM_UP)
    const keys = await createReaderKeys(service.url, { keys: KEYS, streams: STREAMS_OF_KEY })
    const alone = await measureSends(service, WARM_UP)
    const before = await memoryOf(service)
    const readers = await openStreamReaders({ port: portOf(service), keys })
    const from = await numberOfEvents(service)
    const told = await measureSends(service, WARM_UP + SENDS)
    await readers.received((await numberOfEvents(service)) - from)
    const after = await memoryOf(service)
    const rows: Row[] = [
      {
        what: `send with ${STREAMS} open streams, CPU; bare: with none`,
        ours: `${told.toFixed(1)} ms`,
        bare: `${alone.toFixed(1)} ms`,
        value: told / alone,
        goal: atMost(3),
      },
      single(
        `memory of an open stream, of ${STREAMS}`,
        ((after.resident - before.resident) * 1024) / STREAMS,
        {
          unit: 'KiB',
          limit: 60,
        },
      ),
      single('events out of order, or twice', readers.disordered, { unit: '', limit: 0 }),
    ]
    await service.kill()
    readers.close()
    return { rows, keys, cursors: readers.cursors(), sent: WARM_UP + 2 * SENDS }
  } finally {
    await service.kill()
  }
}

async function measureReturn(place: Place, { keys, cursors, sent }: Killed): Promise<Row[]> {
  const service = await start(place)
  try {
    const before = await sendPaced({ port: portOf(service), count: MISSED, pauseMs: BETWEEN_MS })
    await confirmed(service, sent + MISSED)
    const opening = performance.now()
    const [readers, during] = await Promise.all([
      openStreamReaders({ port: portOf(service), keys, cursors }),
      sendPaced({ port: portOf(service), count: SENDS_OF_RETURN, pauseMs: BETWEEN_MS }),
    ])
    await readers.received(MISSED + SENDS_OF_RETURN)
    const caughtUp = performance.now() - opening
    readers.close()
    return [
      {
        what: `send while ${STREAMS} streams come back after a kill, p50; bare: before`,
        ours: `${median(during).toFixed(0)} ms`,
        bare: `${median(before).toFixed(0)} ms`,
        value: median(during) / median(before),
        goal: atMost(2),
      },
      single(`until ${STREAMS} streams have what they missed`, caughtUp / 1_000, { unit: 's', digits: 1 }),
      single('events out of order after a kill', readers.disordered, { unit: '', limit: 0 }),
    ]
  } finally {
    await service.kill()
  }
}

function start({ anvil, folder, databaseUrl }: Place): Promise<ServiceProcess> {
  const env = { ...WITHOUT_LIMITS, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) }
  return startProcess({ rpcUrl: anvil.url, folder, env })
}

/** The CPU for each of the sends until all are final, in ms. */
async function measureSends(service: ServiceProcess, before: number): Promise<number> {
  const cpuBefore = await cpuMs(service)
  await sendPaced({ port: portOf(service), count: SENDS, pauseMs: BETWEEN_MS })
  await confirmed(service, before + SENDS)
  return ((await cpuMs(service)) - cpuBefore) / SENDS
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Counts the events in the log. */
async function numberOfEvents({ url }: ServiceProcess): Promise<number> {
  let count = 0
  let after = '0'
  await becomes(async () => {
    const path = `/events?after=${after}&limit=100`
    const { body } = await callService<readonly { readonly number: string }[]>(url, { method: 'GET', path })
    count += body.data.length
    after = body.data.at(-1)?.number ?? after
    return body.data.length === 0
  }, 0)
  return count
}
