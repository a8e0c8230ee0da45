import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appendManagement } from '../../src/audit/append-store.ts'
import { applyConfig } from '../../src/config/apply.ts'
import { openDatabase } from '../../src/database/database.ts'
import { createDatabaseClock } from '../../src/database/database-clock.ts'
import type { Tx } from '../../src/database/db.ts'
import { isRetryable } from '../../src/database/errors.ts'
import { migrate } from '../../src/database/migrate.ts'
import { notify } from '../../src/database/sql-helpers.ts'
import { type Clock, systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { ACTOR } from '../support/samples.ts'
import { describeAudit } from './audit-cases.ts'
import { describeDatabase, describeEarlierDatabase } from './conformance.ts'

const log = createLogger({ level: 'silent' })

describe('postgres', () => {
  let server: PostgresServer
  let url: string

  beforeAll(async () => {
    server = await startPostgres()
    url = await server.createDatabase()
  }, 60_000)

  afterAll(() => server.stop())

  const open = () => openDatabase({ url, dataDir: '' }, log)

  const setUp = async () => {
    const own = await server.createDatabase()
    return { open: () => openDatabase({ url: own, dataDir: '' }, log), remove: async () => {} }
  }
  describeDatabase(setUp)
  describeEarlierDatabase(setUp)
  describeAudit(setUp)

  test('its clock is right in a process whose own clock is an hour ahead, and stays right when that one steps', async () => {
    const database = await open()
    let lead = 3_600_000
    const machine: Clock = { ...systemClock, now: () => Date.now() + lead }
    const clock = await createDatabaseClock(database.db, machine)
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000)
    lead = -3_600_000
    await clock.measure()
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000)
    await database.close()
  })

  test('connections that can only read are left as soon as that shows', async () => {
    const own = await server.createDatabase()
    const name = new URL(own).pathname.slice(1)
    const admin = await open()
    const demote = (isReadOnly: boolean) =>
      sql`alter database ${sql.id(name)} set default_transaction_read_only = ${sql.lit(isReadOnly)}`.execute(
        admin.db,
      )
    await demote(true)
    const database = await openDatabase({ url: own, dataDir: '' }, log)
    const write = (number: number) =>
      sql`create table ${sql.id(`written_${number}`)} (id int)`.execute(database.db).then(
        () => 'ok',
        (error: { code: string }) => error.code,
      )
    // All connections of the pool are in use at once.
    const many = (from: number) => Promise.all(Array.from({ length: 10 }, (_, index) => write(from + index)))
    expect(new Set(await many(0))).toEqual(new Set(['25006']))
    await demote(false)
    expect(new Set(await many(10))).toEqual(new Set(['ok']))
    await database.close()
    await admin.close()
  })

  test('a lost listening connection comes back, wakes its listeners once, and hears again', async () => {
    const database = await open()
    const heard: string[] = []
    const waiting: (() => void)[] = []
    const next = () => new Promise<void>((resolve) => waiting.push(resolve))
    const stop = await database.listen('wake', (payload) => {
      heard.push(payload)
      waiting.shift()?.()
    })

    const woken = next()
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen%'`.execute(database.db)
    await woken
    expect(heard).toEqual([''])

    const told = next()
    await notify(database.db, 'wake', 'again')
    await told
    expect(heard).toEqual(['', 'again'])
    await stop()
    await database.close()
  })

  test('a connection lost in the middle of a query fails it, retryably', async () => {
    const database = await open()
    const error: unknown = await sql`select pg_terminate_backend(pg_backend_pid())`
      .execute(database.db)
      .catch((thrown) => thrown)
    expect(isRetryable(error)).toBe(true)
    await database.close()
  })

  test('a connection lost while idle is logged and replaced', async () => {
    const sourceAccounts = new PassThrough()
    const database = await openDatabase({ url, dataDir: '' }, pino({ level: 'warn' }, sourceAccounts))
    const logged = once(sourceAccounts, 'data')
    const admin = await open()
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(admin.db)
    expect(String(await logged)).toContain('database connection lost and replaced')
    expect((await sql`select 1 as one`.execute(database.db)).rows).toEqual([{ one: 1 }])
    await Promise.all([database.close(), admin.close()])
  })

  test('the service can write the audit log without owning it, and then not remove its trigger', async () => {
    const database = await open()
    await migrate(database)
    await sql`create role writer`.execute(database.db)
    await sql`grant select, insert on audit_log to writer`.execute(database.db)
    await sql`grant select, insert, update on audit_chains to writer`.execute(database.db)
    const asWriter = <T>(work: (tx: Tx) => Promise<T>) =>
      database.db.transaction().execute(async (tx) => {
        await sql`set local role writer`.execute(tx)
        return work(tx)
      })
    const target = { type: 'relayer', id: 'r' } as const
    await asWriter((tx) => appendManagement(tx, { author: ACTOR, action: 'updateRelayer', target }))
    const remove = sql`drop trigger audit_log_append_only on audit_log`
    await expect(asWriter((tx) => remove.execute(tx))).rejects.toThrow('must be owner')
    await database.close()
  })

  test('a server that is not there fails the opening, retryably', async () => {
    const error: unknown = await openDatabase({ url: 'postgres://127.0.0.1:1/x', dataDir: '' }, log).catch(
      (thrown) => thrown,
    )
    expect(isRetryable(error)).toBe(true)
  })

  test('a configuration applied by processes that start together is applied once', async () => {
    const databases = await Promise.all([open(), open(), open()])
    await migrate(databases[0])
    const relayer = {
      id: 'r',
      name: 'r',
      network: 'n',
      networkType: 'evm',
      signerId: 's',
      paused: false,
    } as const
    const config = { relayers: [{ ...relayer, policies: {} }], notifications: [], signers: [] }
    const accounts = new Map([['r', { chain: 'n', addresses: ['0xA'] as const }]])
    const results = await Promise.all(databases.map(({ db }) => applyConfig(db, config, accounts)))
    expect(results.map((changes) => changes.length).sort()).toEqual([0, 0, 1])
    await Promise.all(databases.map((database) => database.close()))
  })

  test('of two transactions in a deadlock, the loser gets a retryable error', async () => {
    const database = await open()
    await sql`create table rows (id int primary key)`.execute(database.db)
    await sql`insert into rows values (1), (2)`.execute(database.db)
    const bothHold = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const work = (own: 0 | 1) =>
      database.db.transaction().execute(async (tx) => {
        await sql`select from rows where id = ${own + 1} for update`.execute(tx)
        bothHold[own].resolve()
        await Promise.all(bothHold.map(({ promise }) => promise))
        await sql`select from rows where id = ${2 - own} for update`.execute(tx)
      })
    const results = await Promise.allSettled([work(0), work(1)])
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(failures).toHaveLength(1)
    expect(isRetryable(failures[0])).toBe(true)
    await database.close()
  })
})
