import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import type { Service } from '../../support/service.ts'
import { ONE, RELAYER, type SwapSite, startSwapSite, swapOf } from './site.ts'

let postgres: PostgresServer
let site: SwapSite
let other: Service

beforeAll(async () => {
  postgres = await startPostgres()
  site = await startSwapSite({
    swaps: (contracts) => [
      swapOf(contracts, { most_at_once: String(40n * ONE), most_a_day: String(100n * ONE) }),
    ],
    options: { databaseUrl: await postgres.createDatabase() },
  })
  other = await site.start()
}, 60_000)
afterAll(async () => {
  await other?.stop()
  await site?.stop()
  await postgres?.stop()
})

test('two services that are called at once sell one after the other, and no more than the ceiling of a day', async () => {
  await site.mint(1_000n * ONE)
  for (let round = 0; round < 3; round += 1)
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => site.run(index % 2 === 0 ? site.service : other)),
    )
  expect(await site.balanceOf(RELAYER)).toBe(900n * ONE)
  const sales = (await site.records()).filter(({ description }) => description?.includes(': sell '))
  expect(sales.map(({ status }) => status)).toEqual(['confirmed', 'confirmed', 'confirmed'])
  expect(await site.allowance()).toBe(0n)
}, 120_000)
