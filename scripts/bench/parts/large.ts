import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../../../src/database/database.ts'
import { createLogger } from '../../../src/log.ts'
import type { Anvil } from '../../../test/support/anvil.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { API_KEY, NOWHERE } from '../../../test/support/service.ts'
import { claimsOf, otherWork, type Queries } from '../large/claims.ts'
import { fillHistory, LARGE_RELAYERS, NOTIFICATION } from '../large/fill.ts'
import { requestsOn } from '../large/requests.ts'
import { atMost, percentile, type Row, withoutPostgres } from '../measurement.ts'
import { configOfAccounts } from '../support/accounts.ts'
import { drive, requestBytes, times } from '../support/load.ts'
import { portOf, WITHOUT_LIMITS, withAnvil, withFolder } from '../support/stage.ts'

/** What a large history is compared with. */
const FEW = 10_000

/** Each request and each query runs this many times on both, in alternating rounds. */
const ROUNDS = 8
const TIMES = 10

/** A request that takes longer than this, in ms, runs once in a round. */
const SLOW_MS = 500

/** The goal of every ratio. */
const GOAL = atMost(1.5)

interface LargeOptions {
  readonly rows: number
  /** A server whose databases `relayer_<rows>` are made if they are absent, and kept. Default: one that ends with the measurement. */
  readonly serverUrl: string | undefined
}

/** Two histories, and the service on each. */
interface Sides<T> {
  readonly many: T
  readonly few: T
}

/** The lists, searches and claims of a large history beside those of ten thousand transactions, on PostgreSQL and over HTTP. */
export async function benchLarge({ rows, serverUrl }: LargeOptions): Promise<Row[]> {
  if (serverUrl === undefined && !hasPostgres())
    return withoutPostgres(`lists and claims, ${rows} transactions`)
  const server = serverUrl === undefined ? await startPostgres() : undefined
  try {
    const urlOf = (count: number) =>
      server === undefined ? ensureDatabase(serverUrl ?? '', `relayer_${count}`) : server.createDatabase()
    const urls = { many: await urlOf(rows), few: await urlOf(FEW) }
    return await withFolder((folder) =>
      withAnvil((anvil) => {
        const start = (side: keyof Sides<string>) => startPaused(anvil, join(folder, side), urls[side])
        return measureAll({ urls, rows, start })
      }),
    )
  } finally {
    await server?.stop()
  }
}

async function ensureDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** A process whose relayers are paused, so that it changes nothing of the history. */
function startPaused(anvil: Anvil, folder: string, databaseUrl: string): Promise<ServiceProcess> {
  const { relayers, ...others } = configOfAccounts(anvil, LARGE_RELAYERS.length)
  return startProcess({
    rpcUrl: anvil.url,
    folder,
    args: ['--paused'],
    config: {
      ...others,
      relayers: relayers.map((relayer, index) =>
        index % 2 === 0 ? { ...relayer, notification_id: NOTIFICATION } : relayer,
      ),
      notifications: [{ id: NOTIFICATION, type: 'webhook', url: NOWHERE }],
    },
    env: { ...WITHOUT_LIMITS, DATABASE_URL: databaseUrl },
  })
}

interface Plan {
  readonly urls: Sides<string>
  readonly rows: number
  readonly start: (side: keyof Sides<string>) => Promise<ServiceProcess>
}

async function measureAll({ urls, rows, start }: Plan): Promise<Row[]> {
  await fillWhereEmpty(urls.few, FEW, () => start('few'))
  await fillWhereEmpty(urls.many, rows, () => start('many'))
  const services = { many: await start('many'), few: await start('few') }
  try {
    const requests = { many: await requestsOn(urls.many, rows), few: await requestsOn(urls.few, FEW) }
    const measured = [...(await measureRequests(services, requests)), ...(await measureQueries(urls))]
    return measured.map(([name, sides]) => toRow(name, sides, rows))
  } finally {
    await services.many.terminate()
    await services.few.terminate()
  }
}

/** The first start makes the tables and the relayers. */
async function fillWhereEmpty(
  databaseUrl: string,
  rows: number,
  start: () => Promise<ServiceProcess>,
): Promise<void> {
  await (await start()).terminate()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rowCount } = await client.query('select from transactions limit 1').finally(() => client.end())
  if (rowCount !== 0) return
  const seconds = await fillHistory({ databaseUrl, rows })
  console.error(`large: ${rows} transactions stored in ${seconds.toFixed(0)} s`)
}

type Measured = readonly [name: string, times: Sides<number[]>]

async function measureRequests(
  services: Sides<ServiceProcess>,
  requests: Sides<Readonly<Record<string, string>>>,
): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const name of Object.keys(requests.many)) {
    const ask = async (side: keyof Sides<string>, count: number) => {
      const found: number[] = []
      const request = requestBytes('GET', `/api/v1${requests[side][name]}`, { key: API_KEY })
      await drive({
        port: portOf(services[side]),
        request,
        connections: 1,
        more: times(count),
        onAnswer: (ms) => found.push(ms),
      })
      return found
    }
    measured.push(tell([name, await alternate(ask)]))
  }
  return measured
}

async function measureQueries(urls: Sides<string>): Promise<Measured[]> {
  const log = createLogger({ level: 'silent' })
  const open = (url: string) => openDatabase({ url, dataDir: 'memory://' }, log)
  const databases = { many: await open(urls.many), few: await open(urls.few) }
  try {
    const queries = {
      many: await queriesOn(databases.many),
      few: await queriesOn(databases.few),
    }
    const measured: Measured[] = []
    for (const name of Object.keys(queries.many)) {
      const ask = async (side: keyof Sides<string>, count: number) => {
        const found: number[] = []
        for (let index = 0; index < count; index += 1) {
          const start = performance.now()
          await queries[side][name]?.(databases[side].db)
          found.push(performance.now() - start)
        }
        return found
      }
      measured.push(tell([name, await alternate(ask)]))
    }
    return measured
  } finally {
    await databases.many.close()
    await databases.few.close()
  }
}

async function queriesOn({ db }: Awaited<ReturnType<typeof openDatabase>>): Promise<Queries> {
  const { newest } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max<bigint | null>('number').as('newest'))
    .executeTakeFirstOrThrow()
  const [busy = ''] = LARGE_RELAYERS
  return {
    ...claimsOf(busy),
    ...otherWork(LARGE_RELAYERS, { notificationId: NOTIFICATION, newest: newest ?? 0n }),
  }
}

/** Shows what was measured: the whole takes minutes. */
function tell(measured: Measured): Measured {
  const [name, { many, few }] = measured
  console.error(
    `large: ${name}: ${percentile(many, 0.5).toFixed(2)} ms, ${percentile(few, 0.5).toFixed(2)} ms`,
  )
  return measured
}

/** The first round only warms up, and shows which side is slow. */
async function alternate(
  ask: (side: keyof Sides<string>, count: number) => Promise<number[]>,
): Promise<Sides<number[]>> {
  const sides = ['many', 'few'] as const
  const found: Sides<number[]> = { many: [], few: [] }
  const counts = { many: TIMES, few: TIMES }
  for (const side of sides) {
    const [first = 0] = await ask(side, 1)
    if (first > SLOW_MS) counts[side] = 1
    else await ask(side, 2)
  }
  for (let round = 0; round < ROUNDS; round += 1)
    for (const side of sides) found[side].push(...(await ask(side, counts[side])))
  return found
}

function toRow(name: string, { many, few }: Sides<number[]>, rows: number): Row {
  const [ours, bare] = [percentile(many, 0.5), percentile(few, 0.5)]
  return {
    what: `${name}, ${rows} transactions; bare: ${FEW}`,
    ours: `${ours.toFixed(2)} ms (p95 ${percentile(many, 0.95).toFixed(2)})`,
    bare: `${bare.toFixed(2)} ms (p95 ${percentile(few, 0.95).toFixed(2)})`,
    value: ours / bare,
    goal: GOAL,
  }
}
