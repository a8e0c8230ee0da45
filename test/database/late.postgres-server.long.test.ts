import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { readDurability } from '../../src/database/durability.ts'
import { createLogger } from '../../src/log.ts'
import { createPostgres, type LatePostgres } from '../support/postgres.ts'
import { API_KEY } from '../support/service.ts'
import { serveOn } from './serve-on.ts'

const silent = createLogger({ level: 'silent' })

let postgres: LatePostgres

beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(() => postgres.stop())

test('a wait that is over, or was ended, fails with the error of the server', async () => {
  const { url } = postgres
  await expect(openDatabase({ url, dataDir: '', waitMs: 50 }, silent)).rejects.toThrow('ECONNREFUSED')
  const signal = AbortSignal.abort()
  await expect(openDatabase({ url, dataDir: '', waitMs: 600_000, signal }, silent)).rejects.toThrow(
    'ECONNREFUSED',
  )
})

test('SIGTERM ends the wait of a process', async () => {
  const { child, exited, logged } = await serveOn(postgres.url)
  await logged('database not reachable; retrying')
  child.kill('SIGTERM')
  expect(await exited).toEqual([1, null])
}, 60_000)

test('a process that starts before PostgreSQL waits for it, says so, and then serves', async () => {
  const { child, exited, logged } = await serveOn(postgres.url)
  expect(await logged('database not reachable; retrying')).toMatchObject({ level: 'warn' })
  await postgres.start()
  const { url } = await logged('service ready')
  const answer = await fetch(`${url}/api/v1/relayers`, { headers: { authorization: `Bearer ${API_KEY}` } })
  expect(answer.status).toBe(200)
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
}, 120_000)

test('an error that time does not cure fails immediately', async () => {
  const missing = new URL(postgres.url)
  missing.pathname = '/missing'
  await expect(openDatabase({ url: missing.href, dataDir: '', waitMs: 600_000 }, silent)).rejects.toThrow(
    'database "missing" does not exist',
  )
  const database = await openDatabase({ url: postgres.url, dataDir: '', waitMs: 600_000 }, silent)
  onTestFinished(() => database.close())
  expect(await readDurability(database.db)).toBe('relaxed') // The cluster of tests has fsync off.
})
