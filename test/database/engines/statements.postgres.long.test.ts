import { connect, createServer, type Server, type Socket } from 'node:net'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/database/database.ts'
import type { Database, Db, Schema } from '../../../src/database/db.ts'
import { isRetryable } from '../../../src/database/errors.ts'
import { createLogger } from '../../../src/log.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'

const log = createLogger({ level: 'silent' })

let server: PostgresServer
let url: string
let database: Database
beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase()
  database = await openDatabase({ url, dataDir: '' }, log)
}, 60_000)
afterAll(async () => {
  await database.close()
  await server.stop()
})

/** Does work on one connection. */
const onOne = <T>(work: (db: Db) => Promise<T>, { db } = database): Promise<T> =>
  db.connection().execute((one) => work(one as Kysely<Schema>))

async function add(db: Db, number: number, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    const { rows } = await sql<{ sum: number }>`select ${number}::int + ${count}::int as sum`.execute(db)
    expect(rows).toEqual([{ sum: number + count }])
  }
}

async function preparedOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(db)
  return rows.map(({ statement }) => statement)
}

test('a statement that is sent often is parsed once, and one that is not is forgotten', async () => {
  const prepared = await onOne(async (db) => {
    await add(db, 1, 4)
    expect(await preparedOf(db)).toEqual([])
    await add(db, 2, 10)
    await sql`select ${'seldom'}::text`.execute(db)
    return preparedOf(db)
  })
  expect(prepared).toEqual(['select $1::int + $2::int as sum'])
})

test('a transaction begins with its first statement, and one without any sends nothing', async () => {
  await sql`create table kept (a int)`.execute(database.db)
  const idOf = async (db: Db) =>
    (await sql<{ id: bigint }>`select txid_current() as id`.execute(db)).rows[0]?.id
  await database.db.transaction().execute(async (tx) => {
    const first = await idOf(tx)
    await sql`insert into kept values (${1})`.execute(tx)
    expect(await idOf(tx)).toBe(first)
  })
  const failing = database.db.transaction().execute(async (tx) => {
    await sql`insert into kept values (${2})`.execute(tx)
    throw new Error('changed its mind')
  })
  await expect(failing).rejects.toThrow('changed its mind')
  const wrong = database.db.transaction().execute((tx) => sql`select ${1}::int / 0`.execute(tx))
  await expect(wrong).rejects.toThrow('division by zero')
  const before = await idOf(database.db)
  await database.db.transaction().execute(async () => {})
  expect(await idOf(database.db)).toBe((before ?? 0n) + 1n)
  const { rows } = await sql`select a from kept`.execute(database.db)
  expect(rows).toEqual([{ a: 1 }])
})

test('a table that gets a column while statements about it are parsed fails no statement, and one transaction at most', async () => {
  await sql`create table changing (a int)`.execute(database.db)
  await sql`insert into changing values (1)`.execute(database.db)
  const read = async (db: Db) => (await sql`select * from changing where a = ${1}`.execute(db)).rows
  await onOne(async (db) => {
    for (let count = 0; count < 8; count += 1) expect(await read(db)).toEqual([{ a: 1 }])
    await sql`alter table changing add column b int`.execute(database.db)
    expect(await read(db)).toEqual([{ a: 1, b: null }])
    for (let count = 0; count < 8; count += 1) await read(db)
    await sql`alter table changing add column c int`.execute(database.db)
  })
  const inTransaction = () => database.db.transaction().execute(read)
  const error = await inTransaction().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(isRetryable(error)).toBe(true)
  expect(await inTransaction()).toEqual([{ a: 1, b: null, c: null }])
})

test('through a pooler, which tells another process id, nothing is prepared', async () => {
  const pooler = await startPooler(url)
  const pooled = await openDatabase({ url: pooler.url, dataDir: '' }, log)
  await onOne(async (db) => {
    await add(db, 3, 10)
    expect(await preparedOf(db)).toEqual([])
  }, pooled)
  await pooled.db.transaction().execute((tx) => add(tx, 4, 3))
  await pooled.close()
  await pooler.stop()
})

/** Passes everything on, but for the process id of the server (the message BackendKeyData), instead of which it tells one of its own. */
async function startPooler(to: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  const pooler: Server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    sockets.add(client).add(upstream)
    client.on('error', () => {}).on('close', () => upstream.destroy())
    upstream.on('error', () => {}).on('close', () => client.destroy())
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
      if (at >= 0) chunk.writeUInt32BE(0x7fff_fff0, at + 5)
      client.write(chunk)
    })
  })
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  const address = pooler.address()
  const pooled = new URL(to)
  pooled.port = String(typeof address === 'object' ? address?.port : '')
  return {
    url: pooled.href,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        pooler.close(() => resolve())
      }),
  }
}
