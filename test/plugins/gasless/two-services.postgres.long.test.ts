import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import type { Service } from '../../support/service.ts'
import { batchBy } from './sign.ts'
import { countCall, type GaslessSite, startGaslessSite } from './site.ts'

let postgres: PostgresServer
let site: GaslessSite
let other: Service

beforeAll(async () => {
  postgres = await startPostgres()
  site = await startGaslessSite({ options: { databaseUrl: await postgres.createDatabase() } })
  other = await site.start()
}, 60_000)
afterAll(async () => {
  await other?.stop()
  await site?.stop()
  await postgres?.stop()
})

const increment = () => [{ to: site.stranger, data: countCall('increment') }]
const sendAt = (service: Service, content: object) =>
  site.call('relayer_sendTransaction', content, 'gasless', service)

test('two services that are asked for the same content 40 times at once make one transaction with one id', async () => {
  const content = await batchBy(site, 'gelato', site.user(), increment())
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, index) => sendAt(index % 2 === 0 ? site.service : other, content)),
  )
  const ids = new Set(replies.map(({ result }) => result))
  expect([...ids]).toEqual([expect.stringMatching(/^0x[0-9a-f]{64}$/)])
  const path = `/transactions?relayer_id=main&reference=${[...ids][0]}`
  expect((await site.service.api<unknown[]>('GET', path)).body.data).toHaveLength(1)
})

test('two services let one authorization of an account wait at a time', async () => {
  const user = site.user()
  const contents = await Promise.all(
    Array.from({ length: 6 }, (_, key) =>
      batchBy(site, 'gelato', user, increment(), { nonce: BigInt(key) << 64n }),
    ),
  )
  await site.anvil.rpc('evm_setAutomine', [false])
  const replies = await Promise.all(
    contents.map((content, index) => sendAt(index % 2 === 0 ? site.service : other, content)),
  )
  expect(replies.filter(({ result }) => result !== undefined)).toHaveLength(1)
  expect(new Set(replies.flatMap(({ error }) => error?.code ?? []))).toEqual(new Set([4210]))
})
