import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { scenarioOf } from '../support/scenario.ts'
import { RECEIVER, type Service, startService, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let postgres: PostgresServer
let services: [Service, Service]

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  const start = () => startService({ rpcUrls: [anvil.url], databaseUrl })
  services = [await start(), await start()]
}, 60_000)
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await postgres.stop()
  await anvil.stop()
})

const RELAYERS = ['main', 'other'] as const

/** Issues a key with rules, which both services know. */
async function issue(rules: object) {
  const scopes = ['relayers:read', 'transactions:read', 'transactions:write']
  const issued = await services[0].api<{ id: string; secret: string }>('POST', '/api-keys', {
    name: 'Test',
    scopes,
    rules,
  })
  expect([issued.status, issued.body.error]).toEqual([201, undefined])
  const { id, secret } = issued.body.data
  const headers = { authorization: `Bearer ${secret}` }
  for (const service of services)
    await until(
      async () => (await service.api('GET', '/relayers/main', undefined, headers)).status,
      (status) => status === 200,
    )
  /** Calls the services in turn. */
  const call = (index: number, method: string, path: string, body: object) =>
    (services[index % 2] ?? services[0]).api(method, path, body, headers)
  return { id, call }
}

interface Usage {
  readonly limits: readonly Record<string, { readonly spent: string; readonly left: string } | undefined>[]
}

const usageOf = async (id: string) => (await services[1].api<Usage>('GET', `/api-keys/${id}/usage`)).body.data

const pay = (value: number) => ({ to: RECEIVER, value, speed: 'fast' })

describe('two services and the budget of one key', () => {
  test.each([
    ['value', { per: 'day', value: '10' }],
    ['count', { per: 'day', count: 10 }],
  ])(
    'forty requests at once, through both and over two relayers, spend it to the last unit of %s and no further',
    async (amount, limit) => {
      const { id, call } = await issue({ limits: [limit] })
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          call(index, 'POST', `/relayers/${RELAYERS[index % 4 < 2 ? 0 : 1]}/transactions`, pay(1)),
        ),
      )
      const outcomes = answers.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim()).sort()
      expect(outcomes).toEqual([...Array(10).fill('200'), ...Array(30).fill('400 rule_violated')])
      for (const { status, body } of answers)
        if (status === 400) expect(body.error).toContain('0 is left, and this transaction needs up to 1.')
      expect((await usageOf(id)).limits[0]?.[amount]).toEqual({ limit: '10', spent: '10', left: '0' })
    },
  )

  test('replacements, new requests and what is given back never wait for each other in a circle', async () => {
    const limits = [{ per: 'day', value: '1000000', fees: '1000000000000000000', count: 10_000 }]
    const keys = [await issue({ limits }), await issue({ limits })] as const
    const all = '/relayers/main/transactions'
    await scenarioOf(anvil, services[0]).settle()
    const sent = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const { body } = await (keys[index % 2] ?? keys[0]).call(index, 'POST', all, pay(1))
        return body.data.id
      }),
    )
    const get = async (id: string) => (await services[1].api<Transaction>('GET', `${all}/${id}`)).body.data
    for (const id of sent)
      await until(
        () => get(id),
        ({ status }) => status === 'submitted',
      )
    const answers = await Promise.all(
      [...sent, ...sent].flatMap((id, index) => [
        // Each key replaces what the other one sent, too.
        (keys[(index + (index >> 3)) % 2] ?? keys[0]).call(index, 'PUT', `${all}/${id}`, pay(2 + index)),
        (keys[index % 2] ?? keys[0]).call(index, 'POST', all, pay(1)),
        (keys[(index + 1) % 2] ?? keys[0]).call(index + 1, 'POST', all, pay(1)),
      ]),
    )
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [200, undefined]),
    )
  }, 60_000)
})
