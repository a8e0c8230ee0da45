import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Scenario, scenarioOf } from '../support/scenario.ts'
import { DEV_ADDRESSES, type Service, startService, type Transaction } from '../support/service.ts'

const ROUNDS = 5
const PER_ROUND = 8

let anvil: Anvil
let postgres: PostgresServer
let databaseUrl: string
let service: Service
let story: Scenario

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  postgres = await startPostgres()
  databaseUrl = await postgres.createDatabase()
  service = await startService({ rpcUrls: [anvil.url], databaseUrl })
  story = scenarioOf(anvil, service)
}, 60_000)
afterAll(async () => {
  await service.stop()
  await postgres.stop()
  await anvil.stop()
})

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x3000_0000 + index).toString(16).padStart(40, '0')}`
const paid = async (index: number) =>
  BigInt(await anvil.rpc<string>('eth_getBalance', [receiver(index), 'latest']))

/** Ends every connection of the service in the middle of whatever it is doing, as a fail-over does. */
async function breakConnections(): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await client.end()
}

test('connections that break in the middle of a commit lose nothing and double nothing (R18)', async () => {
  const accepted = new Set<number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const sends = Array.from({ length: PER_ROUND }, async (_, offset) => {
      const index = round * PER_ROUND + offset
      const body = { to: receiver(index), value: 1 }
      const { status } = await service.api<Transaction>('POST', '/relayers/main/transactions', body)
      // Without an answer of 200 no one knows; with one it is a promise.
      if (status === 200) accepted.add(index)
      else expect(status).toBe(503)
    })
    await breakConnections()
    await Promise.all(sends)
    await breakConnections()
  }
  await story.settle()
  const { body } = await service.api<Transaction[]>('GET', '/relayers/main/transactions?per_page=100')
  expect(body.data.map(({ status }) => status)).toEqual(body.data.map(() => 'confirmed'))
  expect(body.data.map(({ nonce }) => Number(nonce)).sort((a, b) => a - b)).toEqual(
    body.data.map((_, nonce) => nonce),
  )
  expect(BigInt(await anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest']))).toBe(
    BigInt(body.data.length),
  )
  for (let index = 0; index < ROUNDS * PER_ROUND; index += 1) {
    const times = await paid(index)
    expect(times).toBe(accepted.has(index) ? 1n : times <= 1n ? times : 1n)
  }
}, 90_000)
