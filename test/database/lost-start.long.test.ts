import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { serveOn } from './serve-on.ts'

let anvil: Anvil
let postgres: PostgresServer
let proxy: CuttingProxy

beforeAll(async () => {
  anvil = await startAnvil()
  postgres = await startPostgres()
  proxy = await startCuttingProxy(await postgres.createDatabase())
}, 60_000)
afterAll(async () => {
  await proxy.stop()
  await postgres.stop()
  await anvil.stop()
})

/** The url of a new database, or of an old one, over the proxy. */
const throughProxy = (url: string) => url.replace(new URL(url).host, proxy.host)

/** Starts and stops the whole service. Returns the number of pieces that the start sent. */
async function start(databaseUrl: string, env = {}): Promise<number> {
  const service = await startService({ rpcUrls: [anvil.url], databaseUrl, env })
  const { pieces } = proxy
  // A cut may come after the start.
  await until(
    () => service.api<object[] | null>('GET', '/relayers'),
    ({ status, body }) => status === 200 && body.data?.length === 2,
  )
  await service.stop()
  return pieces
}

/** Each start takes a second or two, so not every statement has its own. */
const STEP = 4

test('a start that loses its connections goes on, whatever it is doing', async () => {
  const databaseUrl = throughProxy(await postgres.createDatabase())
  await start(databaseUrl)
  let last = Number.POSITIVE_INFINITY
  for (let piece = 1; piece <= last; piece += STEP) {
    proxy.cutAt(piece)
    const sent = await start(databaseUrl)
    // A start that was not cut has sent fewer.
    if (sent < piece) last = piece
  }
  expect(last).toBeGreaterThan(20)
}, 240_000)

test.each([
  ['at its first statement', 1, 'schema_migrations'],
  ['in the middle', 1, 'create table transactions'],
  ['at its commit, which the server has done', 1, 'commit'],
])(
  'a migration that loses its connection %s is done once',
  async (_, piece, text) => {
    const databaseUrl = throughProxy(await postgres.createDatabase())
    proxy.cutAt(piece, text)
    await start(databaseUrl)
    expect(proxy.pieces).toBeGreaterThanOrEqual(piece)
  },
  60_000,
)

test('a stop that loses its connections ends all the same', async () => {
  const service = await startService({
    rpcUrls: [anvil.url],
    databaseUrl: throughProxy(await postgres.createDatabase()),
  })
  proxy.cutAt(1, 'update leases set expires_at = now()')
  await service.stop()
  expect(proxy.pieces).toBeGreaterThan(0)
}, 60_000)

test('a start that gives up says so in its log', async () => {
  const databaseUrl = throughProxy(await postgres.createDatabase())
  proxy.cutAt(3)
  const { exited, logged } = await serveOn(databaseUrl, { RELAYER_DATABASE_WAIT_SECONDS: '0' })
  expect(await logged('service start failed')).toMatchObject({
    level: 'fatal',
    err: { message: expect.stringContaining('Connection terminated unexpectedly') },
  })
  expect(await exited).toEqual([1, null])
}, 60_000)
