import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type Service, startService } from '../../support/service.ts'
import { HOT, stageOf, topUpConfig } from './scenario.ts'

let anvil: Anvil
let postgres: PostgresServer
const clock = createAdjustableClock()
const services: Service[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  await anvil.rpc('anvil_setBalance', [HOT, '0x0'])
  postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  const start = () => startService({ rpcUrls: [anvil.url], clock, databaseUrl, ...topUpConfig() })
  services.push(...(await Promise.all([start(), start()])))
}, 90_000)
afterAll(async () => {
  for (const service of services) await service.stop()
  await postgres.stop()
  await anvil.stop()
})

test('two processes on one database pay once, and the second one goes on when the first one ends', async () => {
  const [first, second] = services
  if (first === undefined || second === undefined) throw new Error('two were started')
  const stage = stageOf({ anvil, service: first, clock })
  await stage.paysUntil(1)
  await stage.settle()
  await stage.becomes('enough')
  expect(await stage.paid()).toHaveLength(1)
  await first.stop()
  services.shift()
  const other = stageOf({ anvil, service: second, clock })
  await other.setBalance(0n)
  await other.paysUntil(2)
  await other.settle()
  await other.becomes('enough')
  expect(await other.paid()).toHaveLength(2)
}, 90_000)
