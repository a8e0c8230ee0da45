import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import type { ConfiguredRelayer } from '../../src/relayers/relayer-codec.ts'
import { saveRelayer } from '../../src/relayers/store.ts'
import { lockSigner } from '../../src/signers/store.ts'
import { scenarioOf } from '../support/scenario.ts'
import { type Answer, NOWHERE, RECEIVER, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type ServicePair, startServicePair } from './service-pair.ts'

const KEY = '7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'
const ENV = {
  STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64'),
  RELAYER_ALLOW_PRIVATE_URLS: 'true',
}
const ROUNDS = 10

let pair: ServicePair
let database: Database
let services: readonly [Service, Service]

beforeAll(async () => {
  pair = await startServicePair({ rpcUrls: ['http://127.0.0.1:9'], env: ENV })
  services = pair.services
  database = await openDatabase(
    { url: pair.databaseUrl, dataDir: 'memory://' },
    createLogger({ level: 'silent' }),
  )
}, 60_000)
afterAll(async () => {
  await database.close()
  await pair.stop()
})

const signer = (id: string) => ({ id, type: 'plain', config: { key: KEY } })

/** A relayer as its creation stores it. */
const relayerWith = (changes: Partial<ConfiguredRelayer>) =>
  ({
    id: 'late',
    name: 'Late',
    network: 'anvil',
    networkType: 'evm',
    address: RECEIVER,
    signerId: 'dev-0',
    paused: true,
    policies: {},
    ...changes,
  }) as ConfiguredRelayer

/** How many statements of others wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from pg_stat_activity where wait_event_type = 'Lock'`.execute(database.db)
  return Number(rows[0]?.count)
}

test('one of two services that create the same record at the same instant succeeds', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [path, body] of [
      ['/signers', signer(`round-${round}`)],
      ['/notifications', { id: `round-${round}`, url: NOWHERE }],
    ] as const) {
      const answers = await Promise.all(services.map(({ api }) => api('POST', path, body)))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    }
  }
})

test('a signer is not deleted while a relayer is being created with it', async () => {
  await services[0].api('POST', '/signers', signer('wanted'))
  let deletion: Promise<Answer> | undefined
  await database.db.transaction().execute(async (tx) => {
    expect(await lockSigner(tx, 'wanted', 'share')).toMatchObject({ id: 'wanted', origin: 'api' })
    deletion = services[1].api('DELETE', '/signers/wanted')
    await until(waiting, (count) => count > 0)
    await saveRelayer(tx, relayerWith({ signerId: 'wanted' }))
  })
  expect((await deletion)?.body).toMatchObject({
    code: 'in_use',
    error: expect.stringContaining('"late"'),
  })
})

test('a notification is not deleted while a relayer is being created with it', async () => {
  await services[0].api('POST', '/notifications', { id: 'wanted', url: NOWHERE })
  let deletion: Promise<Answer> | undefined
  await database.db.transaction().execute(async (tx) => {
    await saveRelayer(tx, relayerWith({ notificationId: 'wanted' }))
    deletion = services[1].api('DELETE', '/notifications/wanted')
    await until(waiting, (count) => count > 0)
  })
  expect((await deletion)?.body).toMatchObject({
    code: 'in_use',
    error: expect.stringContaining('"late"'),
  })
})

test('urls that a network is given at one service are asked by the other, too', async () => {
  const { status } = await services[0].api('PATCH', '/networks/evm:anvil', { rpc_urls: [pair.anvil.url] })
  expect(status).toBe(200)
  const other = services[1]
  await until(
    () => other.api<{ rpc_urls: { url: string }[] }>('GET', '/networks/evm:anvil'),
    ({ body }) => body.data.rpc_urls[0]?.url === pair.anvil.url,
  )
  const story = scenarioOf(pair.anvil, other)
  await story.send({ to: RECEIVER, value: 1 })
  await story.settle()
}, 60_000)
