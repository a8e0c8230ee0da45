import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type PostgresServer, query, startPostgres } from '../../support/postgres.ts'
import { decided, schedulesOf } from '../../support/schedules.ts'
import { type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let anvil: Anvil
let postgres: PostgresServer
let databaseUrl: string
let services: Service[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  postgres = await startPostgres()
  databaseUrl = await postgres.createDatabase()
  for (let count = 0; count < 2; count += 1)
    services.push(await startService({ rpcUrls: [anvil.url], databaseUrl }))
}, 120_000)
afterAll(async () => {
  for (const service of services) await service.stop()
  services = []
  await postgres?.stop()
  await anvil?.stop()
})

function at(index: number): Service {
  const found = services[index % services.length]
  if (found === undefined) throw new Error('no service has started')
  return found
}

const receiver = (index: number) => `0x${(0x5000_0000 + index).toString(16).padStart(40, '0')}`

test('two processes that see the same times send each run once', async () => {
  const created = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const relayer = index % 2 === 0 ? 'main' : 'other'
      const { mustCreate } = schedulesOf(at(index).api, relayer)
      const transaction = { to: receiver(index), value: '1', speed: 'fast' }
      // A run of its own in between would be decided meanwhile, and once a day none is.
      const cron = '0 0 * * *'
      const { id } = await mustCreate({ transaction, cron, max_runs: 3, missed: 'all', overlap: 'allow' })
      return { id, relayer, paid: receiver(index) }
    }),
  )
  // Five days are over at once, for both processes.
  await query(databaseUrl, "update schedules set next_at = date_trunc('day', now()) - interval '5 days'")
  for (const { id, relayer, paid } of created) {
    const runs = await decided(at(0), id, 3, relayer)
    expect(runs.map(({ outcome }) => outcome)).toEqual(['sent', 'sent', 'sent'])
    for (const { transaction_id: sent } of runs)
      await until(
        async () =>
          (await at(1).api<Transaction>('GET', `/relayers/${relayer}/transactions/${sent}`)).body.data,
        ({ status }) => status === 'confirmed',
      )
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', [paid, 'latest']))).toBe(3n)
    expect(await schedulesOf(at(1).api, relayer).get(id)).toMatchObject({ state: 'completed', runs: 3 })
  }
}, 180_000)

test('a change at the moment of a run either sees it or stops it', async () => {
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const transaction = { to: receiver(100 + index), value: '1', speed: 'fast' }
      return schedulesOf(at(index).api).mustCreate({ transaction, cron: '0 0 * * *' })
    }),
  )
  await query(databaseUrl, "update schedules set next_at = now() where state = 'active'")
  const changes = await Promise.all(
    created.map(({ id }, index) => schedulesOf(at(index + 1).api).change(id, { paused: true })),
  )
  expect(changes.map(({ status }) => status)).toEqual(changes.map(() => 200))
  // Some rounds of both processes.
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  for (const [index, { id }] of created.entries()) {
    const { runs, get } = schedulesOf(at(0).api)
    const [kept, schedule] = [await runs(id), await get(id)]
    expect(schedule).toMatchObject({ state: 'paused', runs: kept.length })
    expect(changes[index]?.body.data.runs).toBe(kept.length)
  }
}, 120_000)
