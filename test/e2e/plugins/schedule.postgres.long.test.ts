import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'

const PATH = join(import.meta.dirname, 'fixtures', 'telling.ts')

interface Run {
  readonly scheduled_at: string
  readonly missed: number
}

let postgres: PostgresServer
let receiver: Receiver
const services: Service[] = []
beforeAll(async () => {
  postgres = await startPostgres()
  receiver = await startReceiver()
}, 60_000)
afterAll(async () => {
  for (const service of services) await service.stop()
  await receiver?.stop()
  await postgres?.stop()
})

test('two processes of one database run each time once, and one continues when the other stops', async () => {
  const databaseUrl = await postgres.createDatabase()
  const hooks = { schedule: [{ name: 'every-second', cron: '* * * * * *' }] }
  const plugins = [{ id: 'clerk', path: PATH, config: { url: receiver.url }, hooks }]
  const start = () => startService({ rpcUrls: [], relayers: [], signers: [], databaseUrl, plugins })
  services.push(await start(), await start())
  await receiver.arrived(5)
  await services.shift()?.stop()
  const before = receiver.received.length
  await receiver.arrived(before + 3)
  const runs = receiver.received.map(({ body }) => body as unknown as Run)
  const times = runs.map(({ scheduled_at }) => Date.parse(scheduled_at) / 1_000)
  expect(new Set(times).size).toBe(times.length)
  // Each second either ran or was told as missed by the run after it.
  const [first = 0] = times
  const missed = runs.slice(1).reduce((sum, run) => sum + run.missed, 0)
  expect(Math.max(...times) - first + 1).toBe(times.length + missed)
}, 120_000)
