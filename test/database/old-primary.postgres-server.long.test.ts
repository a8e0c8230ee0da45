import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { replicationOf } from '../../src/database/durability.ts'
import { chooseServers } from '../../src/database/engines/postgres/postgres-servers.ts'
import { transact } from '../../src/database/locks/transact.ts'
import { createLogger } from '../../src/log.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { createPostgres, type LatePostgres } from '../support/postgres.ts'
import { RECEIVER, type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { serveOn } from './serve-on.ts'

/**
 * From the promotion until requests are accepted on the new primary, in ms: two looks, and a busy machine.
 */
const MOVED_MS = 20_000

/** Longer in ms than an answer is believed without a look at the other servers. */
const SLOW_MS = 300

interface Cluster {
  readonly old: LatePostgres
  readonly standby: LatePostgres
  readonly url: string
}

async function startCluster(options: { readonly synchronous: boolean }): Promise<Cluster> {
  const old = await createPostgres()
  onTestFinished(() => old.stop())
  await old.start()
  const standby = await old.startStandby(options)
  onTestFinished(() => standby.stop())
  const hosts = [old, standby].map(({ url }) => new URL(url).host).join(',')
  return { old, standby, url: `postgres://postgres@${hosts}/postgres` }
}

async function serve(databaseUrl: string): Promise<{ readonly anvil: Anvil; readonly service: Service }> {
  const anvil = await startAnvil({ args: ['--block-time', '0.2'] })
  onTestFinished(() => anvil.stop())
  const service = await startService({ rpcUrls: [anvil.url], databaseUrl })
  onTestFinished(() => service.stop())
  return { anvil, service }
}

const send = (service: Service, key: string) =>
  service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 }, { 'idempotency-key': key })

const ready = async (service: Service) => {
  const { status, body } = await service.api<unknown>('GET', '/ready')
  return [
    status,
    (body as unknown as { components: { database: { error?: string } } }).components.database.error,
  ]
}

test.each([
  ['synchronous', true],
  ['asynchronous', false],
] as const)(
  'a service leaves a primary that lives on after the promotion of its %s standby',
  async (_kind, synchronous) => {
    const { standby, url } = await startCluster({ synchronous })
    const { service } = await serve(url)
    expect((await send(service, 'before')).status).toBe(200)
    await standby.promote()
    const count = async () => {
      const { status } = await send(service, `after-${performance.now()}`)
      const { rows } = await standby.query<{ count: string }>(
        "select count(*) from idempotency_keys where key like 'after-%'",
      )
      return status === 200 && Number(rows[0]?.count) > 0
    }
    await until(count, (isThere) => isThere, { timeoutMs: MOVED_MS })
    expect(await ready(service)).toEqual([200, undefined])
  },
  90_000,
)

test('a process that starts while two servers take writes uses the one that was promoted', async () => {
  const { standby, url } = await startCluster({ synchronous: true })
  await standby.promote()
  const { service } = await serve(url)
  expect((await send(service, 'first')).status).toBe(200)
  const { rows } = await standby.query("select from idempotency_keys where key = 'first'")
  expect(rows).toHaveLength(1)
}, 60_000)

test('a connection to the old primary that was being made when the new one was found is not used', async () => {
  const { standby, url } = await startCluster({ synchronous: true })
  await standby.promote()
  const servers = chooseServers(url, { log: createLogger({ level: 'silent' }) })
  onTestFinished(() => servers.destroy())
  const toTheOld = new servers.Client()
  await servers.findNewest()
  await expect(toTheOld.connect()).rejects.toThrow('is an old primary: its timeline is 00000001')
  const toTheNew = await servers.use(() => new servers.Client().connect())
  expect([toTheNew.port, servers.current()]).toEqual([
    Number(new URL(standby.url).port),
    new URL(standby.url).host,
  ])
  await toTheNew.end()
}, 60_000)

/** A cluster with a table, and a transaction of the service's database layer whose commit waits for the standby. */
async function startWaiting(loseStandby: (cluster: Cluster) => Promise<unknown>) {
  const cluster = await startCluster({ synchronous: true })
  const { old, standby, url } = cluster
  await old.query('create table notes (text text)')
  const database = await openDatabase({ url, dataDir: '' }, createLogger({ level: 'silent' }))
  onTestFinished(() => database.close())
  const write = (text: string) =>
    transact(database.db, (tx) => sql`insert into notes values (${text})`.execute(tx))
  await write('before')
  await loseStandby(cluster)
  let ended = false
  const waiting = write('waiting').finally(() => {
    ended = true
  })
  waiting.catch(() => {})
  await untilWaits(old, 'commit')
  return { old, standby, write, waiting, isOver: () => ended }
}

/** Waits until a statement like this one waits for the standby. */
const untilWaits = (server: LatePostgres, query: string) =>
  until(
    () => server.query(`select from pg_stat_activity where wait_event = 'SyncRep' and query like '${query}'`),
    ({ rows }) => rows.length > 0,
  )

const notes = async (server: LatePostgres) => {
  const { rows } = await server.query<{ text: string }>('select text from notes order by text')
  return rows.map(({ text }) => text)
}

test('a commit that an old primary ends without its standby has failed', async () => {
  const { old, standby, write, waiting } = await startWaiting(({ standby }) => standby.promote())
  await setTimeout(SLOW_MS)
  // What Patroni does when it starts beside a server that was the primary.
  await old.query("alter system set synchronous_standby_names = ''")
  await old.query('select pg_reload_conf()')
  await expect(waiting).rejects.toThrow('primary')
  await write('again')
  expect(await notes(standby)).toEqual(['again', 'before'])
}, 60_000)

test('a commit whose wait for the standby is canceled waits again', async () => {
  const { old, standby, waiting, isOver } = await startWaiting(({ standby }) => standby.crash())
  await old.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
  await untilWaits(old, '%pg_logical_emit_message%')
  expect([isOver(), await notes(old)]).toEqual([false, ['before', 'waiting']])
  await standby.start()
  await waiting
  expect(await notes(standby)).toEqual(['before', 'waiting'])
}, 60_000)

test('readiness, metrics and the log say whether a standby is synchronous', async () => {
  const { old, url } = await startCluster({ synchronous: true })
  const lines: string[] = []
  const log = createLogger({ level: 'info' }, { write: (line) => lines.push(line) })
  const anvil = await startAnvil({ args: ['--block-time', '0.2'] })
  onTestFinished(() => anvil.stop())
  const service = await startService({
    rpcUrls: [anvil.url],
    databaseUrl: url,
    log,
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  })
  onTestFinished(() => service.stop())
  const replication = async () => {
    const { body } = await service.api<unknown>('GET', '/ready')
    return (body as unknown as { components: { database: { replication?: string } } }).components.database
      .replication
  }
  expect(await replication()).toBe('synchronous')
  const metrics = async () => (await fetch(`${service.metricsUrl}`)).text()
  expect(await metrics()).toContain('database_synchronous 1')
  expect(lines.join('')).toContain('"replication":"synchronous"')
  await old.query("alter system set synchronous_standby_names = ''")
  await old.query('select pg_reload_conf()')
  await until(replication, (now) => now === 'asynchronous')
  await until(metrics, (text) => text.includes('database_synchronous 0'))
}, 60_000)

test.each([
  [{ names: '', standbys: 0, synchronous: 0, hidden: 0 }, 'none'],
  [{ names: '', standbys: 1, synchronous: 0, hidden: 1 }, 'asynchronous'],
  [{ names: 'ANY 1 (a, b)', standbys: 2, synchronous: 1, hidden: 0 }, 'synchronous'],
  [{ names: '*', standbys: 1, synchronous: 0, hidden: 1 }, 'unknown'],
  [{ names: 'a', standbys: 1, synchronous: 0, hidden: 0 }, 'interrupted'],
] as const)('a server that says %o about its standbys is %s', (seen, judged) => {
  expect(replicationOf(seen)).toBe(judged)
})

test('readiness is 503 while no commit ends, and 200 when the standby is back', async () => {
  const { old, standby } = await startCluster({ synchronous: true })
  const { service } = await serve(old.url)
  expect(await ready(service)).toEqual([200, undefined])
  await standby.freeze()
  await until(
    () => ready(service),
    ([status]) => status === 503,
  )
  await old.query("alter system set synchronous_standby_names = ''")
  await old.query('select pg_reload_conf()')
  await until(
    () => ready(service),
    ([status]) => status === 200,
  )
}, 60_000)

test('readiness is 503 while the database takes no writes', async () => {
  const { old } = await startCluster({ synchronous: false })
  const { service } = await serve(old.url)
  await old.query('alter database postgres set default_transaction_read_only = on')
  await old.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'relayer'")
  const found = await until(
    () => ready(service),
    ([status, error]) => status === 503 && error === 'The database takes no writes.',
  )
  expect(found[0]).toBe(503)
  await old.query(
    'set transaction_read_only = off; alter database postgres reset default_transaction_read_only',
  )
  await old.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'relayer'")
  await until(
    () => ready(service),
    ([status]) => status === 200,
  )
}, 60_000)

test('a start says what it waits for, and ends, when no commit ends', async () => {
  const { old, standby } = await startCluster({ synchronous: true })
  await standby.freeze()
  const starting = await serveOn(old.url, { RELAYER_DATABASE_WAIT_SECONDS: '8' })
  expect(await starting.logged('database has not answered yet; waiting')).toMatchObject({
    waiting_for: 'migrations and the configuration',
    reason: 'no commit ends, because no synchronous standby confirms it',
  })
  expect((await starting.logged('service start failed')).level).toBe('fatal')
  expect(await starting.exited).toEqual([1, null])
}, 60_000)
