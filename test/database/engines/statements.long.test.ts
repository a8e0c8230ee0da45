import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type EngineClient, openEngine } from '../../../src/database/engines/embedded/engine-client.ts'
import { startEngineHere } from '../../../src/database/engines/embedded/start-engine.ts'

let engine: EngineClient
/** Counts the calls of the engine. */
let calls = 0

const ask = (text: string, parameters: readonly unknown[] = []) => engine.query(text, parameters)

beforeAll(async () => {
  const started = await startEngineHere()
  const send = started.port.postMessage.bind(started.port)
  vi.spyOn(started.port, 'postMessage').mockImplementation((message, transfer) => {
    calls += 1
    send(message, transfer as ArrayBuffer[])
  })
  engine = await openEngine(started, { durability: 'relaxed' })
})
afterAll(() => engine.close())

async function preparedTexts(): Promise<string[]> {
  const { rows } = await ask('select statement from pg_prepared_statements')
  return (rows as { statement: string }[]).map(({ statement }) => statement)
}

async function callsOf(work: () => Promise<unknown>): Promise<number> {
  const before = calls
  await work()
  return calls - before
}

test('a statement is parsed once, and takes one call of the engine, the first time as well', async () => {
  const next = (id: number) => ask('select $1::int + 1 as next', [id])
  expect(await callsOf(() => next(1))).toBe(1)
  expect(await callsOf(async () => expect((await next(41)).rows).toEqual([{ next: 42 }]))).toBe(1)
})

test('a statement that is sent again before its first answer is parsed once', async () => {
  const next = (id: number) => ask('select $1::int + 2 as next', [id])
  const results = await Promise.all([next(1), next(2), next(3)])
  expect(results.map(({ rows }) => rows)).toEqual([[{ next: 3 }], [{ next: 4 }], [{ next: 5 }]])
  expect((await next(4)).rows).toEqual([{ next: 6 }])
  expect((await preparedTexts()).filter((text) => text.includes('+ 2 as next'))).toHaveLength(1)
})

test('a failed statement spoils those that are sent with it and behind it, and leaves nothing behind', async () => {
  const divide = (by: number) => ask('select 8 / $1::int as quotient', [by])
  await ask('begin')
  const results = await Promise.allSettled([divide(2), divide(0), divide(4)])
  expect(results).toMatchObject([
    { value: { rows: [{ quotient: 4 }] } },
    { reason: { code: '22012' } },
    { reason: { code: '25P02' } },
  ])
  await ask('rollback')
  expect((await divide(1)).rows).toEqual([{ quotient: 8 }])
  expect((await preparedTexts()).filter((text) => text.includes('as quotient'))).toHaveLength(1)
})

test('a statement gets another plan when what was stored may have made its table large, and is not parsed again', async () => {
  const look = () => ask('select text from growing where id = 7')
  const planOf = async () => {
    const { rows } = await ask(
      "select name from pg_prepared_statements where statement like '%from growing%7'",
    )
    const names = (rows as { name: string }[]).map(({ name }) => name)
    expect(names).toHaveLength(1)
    return JSON.stringify((await ask(`explain execute "${names[0]}"`)).rows)
  }
  await ask('create table growing (id int primary key, text text)')
  // The database believes that a table is empty when it was empty at its vacuum.
  await ask('vacuum growing')
  await look()
  expect(await planOf()).toContain('Seq Scan on growing')
  for (let id = 1; id <= 300; id += 1)
    await ask('insert into growing values ($1, $2)', [id, 'x'.repeat(1_000)])
  await look()
  expect(await planOf()).toContain('Seq Scan on growing')
  await ask('begin')
  await look()
  await ask('commit')
  expect(await planOf()).toContain('Index Scan using growing_pkey')
})

test('a change of a table is seen by the statements that were parsed before', async () => {
  await ask('create table changing (one int)')
  await ask('insert into changing values (1)')
  expect((await ask('select * from changing')).rows).toEqual([{ one: 1 }])
  await ask('alter table changing add column two text')
  expect((await ask('select * from changing')).rows).toEqual([{ one: 1, two: null }])
})

test('values of every kind that the service stores arrive as they were', async () => {
  const values = [true, 12n, 'text', new Date(0), { a: 1 }, Buffer.from([0, 255]), ['a', 'b,"c'], null]
  const types = ['boolean', 'bigint', 'text', 'timestamptz', 'jsonb', 'bytea', 'text[]', 'text']
  const text = `select ${types.map((type, index) => `$${index + 1}::${type} as v${index}`).join(', ')}`
  const { rows } = await ask(text, values)
  expect(Object.values(rows[0] as object)).toEqual([
    true,
    12n,
    ...values.slice(2, 5),
    Uint8Array.of(0, 255),
    ...values.slice(6),
  ])
})

test('a refused statement spoils neither the next one nor a repetition', async () => {
  await ask('create table unique_ones (id int primary key)')
  const insert = (id: number) => ask('insert into unique_ones values ($1)', [id])
  await insert(1)
  await expect(insert(1)).rejects.toMatchObject({ code: '23505', constraint: 'unique_ones_pkey' })
  expect((await insert(2)).rowCount).toBe(1)
  await expect(ask('select nothing')).rejects.toMatchObject({ code: '42703' })
  await expect(ask('select $1::int', ['word'])).rejects.toMatchObject({ code: '22P02' })
})

test('a transaction that failed can still be rolled back, and its statements work afterwards', async () => {
  await ask('begin')
  await ask('select $1::int as fine', [1])
  await expect(ask('select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' })
  await expect(ask('select $1::int as fine', [1])).rejects.toMatchObject({ code: '25P02' })
  expect((await ask('commit')).command).toBe('ROLLBACK')
  expect((await ask('select $1::int as fine', [3])).rows).toEqual([{ fine: 3 }])
})

test('a transaction without a statement leaves nothing behind', async () => {
  // Outside of a transaction this is an error.
  const savepoint = () => ask('savepoint here')
  await ask('begin')
  expect((await savepoint()).command).toBe('SAVEPOINT')
  expect((await ask('commit')).command).toBe('COMMIT')
  await ask('begin')
  await expect(ask('select nothing')).rejects.toMatchObject({ code: '42703' })
  expect((await ask('commit')).command).toBe('ROLLBACK')
  await ask('begin')
  expect((await ask('rollback')).command).toBe('ROLLBACK')
  await expect(savepoint()).rejects.toMatchObject({ code: '25P01' })
})

test('the engine keeps a bounded number of statements, and none with a long list', async () => {
  for (let count = 0; count < 230; count += 1) await ask(`select ${count} as n`)
  const list = Array.from({ length: 40 }, (_, index) => `$${index + 1}::int`).join(', ')
  await ask(
    `select ${list}`,
    Array.from({ length: 40 }, (_, index) => index),
  )
  const texts = await preparedTexts()
  expect(texts.length).toBeLessThanOrEqual(220)
  expect(texts).toContain('select 229 as n')
  expect(texts).not.toContain('select 0 as n')
  expect(texts.filter((text) => text.includes('$40'))).toEqual([])
})
