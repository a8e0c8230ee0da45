import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { untilReady } from '../../support/plugins.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let anvil: Anvil
let postgres: PostgresServer
let receiver: Receiver
let database: pg.Client
const services: Service[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  receiver = await startReceiver()
  postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  database = new pg.Client(databaseUrl)
  await database.connect()
  const path = join(import.meta.dirname, 'fixtures', 'telling.ts')
  const hooks = { on_event: { types: ['transaction_update'] } }
  const plugins = [{ id: 'teller', path, config: { url: receiver.url }, hooks }]
  for (let count = 0; count < 2; count += 1) {
    const service = await startService({ rpcUrls: [anvil.url], plugins, databaseUrl })
    services.push(service)
    await untilReady(service)
  }
}, 60_000)
afterAll(async () => {
  for (const service of services) await service.stop()
  await database?.end()
  await receiver?.stop()
  await postgres?.stop()
  await anvil?.stop()
})

interface EventLease {
  readonly owner: string
  readonly lasts: boolean
}

async function leaseOfEvents(): Promise<EventLease | undefined> {
  const { rows } = await database.query<EventLease>(
    "select owner, expires_at > now() and expires_at < 'infinity' as lasts from leases where name = 'plugin-events:teller'",
  )
  return rows[0]
}

test('a process that stops during a call keeps the events until the call has ended, and then another one continues', async () => {
  const [first, second] = services
  if (first === undefined || second === undefined) throw new Error('two services run')
  const held = Promise.withResolvers<ServerResponse>()
  receiver.behave(() => held.resolve)
  const before = await leaseOfEvents()
  const sent = await first.api('POST', '/relayers/main/transactions', {
    to: RECEIVER,
    value: 1,
    speed: 'fast',
  })
  expect(sent.status).toBe(200)
  const response = await held.promise
  receiver.behave(() => 204)
  // The one that calls is the first that started.
  const stopped = first.stop()
  services.shift()
  await until(
    async () => (await database.query('select from processes where alive_until > now()')).rowCount,
    (count) => count === 1,
  )
  expect(await leaseOfEvents()).toEqual({ owner: before?.owner, lasts: true })
  expect(receiver.received).toHaveLength(1)
  response.writeHead(204).end()
  await stopped
  await receiver.arrived(4)
  const statuses = receiver.received.map(({ body }) => body.payload.status)
  expect(statuses.slice(0, 4)).toEqual(['pending', 'sent', 'submitted', 'mined'])
})
