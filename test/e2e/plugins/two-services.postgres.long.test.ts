import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyPlugins, type PluginFolder, readPlugin, untilReady } from '../../support/plugins.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let folder: PluginFolder
let postgres: PostgresServer
let services: Service[] = []

beforeAll(async () => {
  folder = copyPlugins()
  postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  const plugins = [{ id: 'main', path: folder.path('every-thing.ts') }]
  for (let count = 0; count < 2; count += 1)
    services.push(await startService({ rpcUrls: [], relayers: [], plugins, databaseUrl }))
  for (const service of services) await untilReady(service)
}, 60_000)
afterAll(async () => {
  for (const service of services) await service.stop()
  services = []
  await postgres?.stop()
  folder?.remove()
})

const call = (at: 0 | 1, route: string, params: object = {}) =>
  service(at).api<never>('POST', `/plugins/main/call${route}`, { params })

function service(at: 0 | 1): Service {
  const found = services[at]
  if (found === undefined) throw new Error(`Service ${at} did not start.`)
  return found
}

/** Begins to hold a lock in the first process, and returns when it is held. */
async function hold(params: { readonly key: string; readonly ms: number; readonly ttlSec?: number }) {
  const end = call(0, '/hold', params)
  await until(
    async () => (await call(1, '/get', { key: `held:${params.key}` })).body.data,
    (held) => held !== null,
  )
  return { end }
}

test('values are those of all processes', async () => {
  await call(0, '/set', { key: 'shared', value: { n: 1 } })
  expect((await call(1, '/get', { key: 'shared' })).body.data).toEqual({ n: 1 })
})

test('a lock that one process holds is busy in the other one, until its work ends', async () => {
  const holding = await hold({ key: 'one', ms: 1_500 })
  expect((await call(1, '/hold', { key: 'one', ms: 0 })).body.data).toBe('busy')
  expect((await holding.end).body.data).toBe('held')
  expect((await call(1, '/hold', { key: 'one', ms: 0 })).body.data).toBe('held')
})

test('a lock ends after its time, even if its work does not', async () => {
  const holding = await hold({ key: 'two', ms: 3_000, ttlSec: 1 })
  await until(
    async () => (await call(1, '/hold', { key: 'two', ms: 0 })).body.data,
    (answer) => answer === 'held',
  )
  expect((await holding.end).body.data).toBe('held')
})

test('settings that one process changes apply in the other one within a second', async () => {
  await service(0).api('PATCH', '/plugins/main', { timeout: 17 })
  await until(
    () => readPlugin(service(1), 'main'),
    ({ timeout }) => timeout === 17,
    { timeoutMs: 2_000 },
  )
})
