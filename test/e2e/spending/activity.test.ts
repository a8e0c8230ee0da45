import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { issueLimited } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'

type Activity = Schemas['ActivityResponse']['data']

let story: Scenario
beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

const HOUR_MS = 3_600_000

const query = (more: Record<string, string> = {}) =>
  new URLSearchParams({
    from: new Date(Date.now() - HOUR_MS).toISOString(),
    to: new Date(Date.now() + HOUR_MS).toISOString(),
    ...more,
  }).toString()

async function activity(more: Record<string, string> = {}, key = API_KEY): Promise<Activity> {
  const authorization = `Bearer ${key}`
  const { status, body } = await story.service.api<Activity>(
    'GET',
    `/reports/activity?${query(more)}`,
    undefined,
    { authorization },
  )
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}

async function feeOf(id: string): Promise<bigint> {
  const { body } = await story.service.api<{ hash: string }>('GET', `/relayers/main/transactions/${id}`)
  const receipt = (await story.anvil.rpc('eth_getTransactionReceipt', [body.data.hash])) as {
    readonly gasUsed: string
    readonly effectiveGasPrice: string
  }
  return BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
}

/** Adds the rows up: an hour can end during the test. */
const total = (rows: Activity['rows'], field: 'accepted' | 'confirmed' | 'canceled') =>
  rows.reduce((sum, row) => sum + row[field], 0)

test('what was sent, spent and waited is counted by network, relayer and key, and a key sees only its relayers', async () => {
  const limited = await issueLimited(story.service, {})
  const first = (await story.send({ to: RECEIVER, value: 1, speed: 'fast' })).id
  const second = (await limited.send({ to: RECEIVER, value: 1, speed: 'fast' })).body.data.id
  const canceled = (await story.send({ to: RECEIVER, value: 5, speed: 'fast' })).id
  await story.reach(canceled, 'submitted')
  await story.service.api('DELETE', `/relayers/main/transactions/${canceled}`)
  await story.settle()
  const elsewhere = { to: RECEIVER, value: '1', speed: 'fast' }
  await story.service.api('POST', '/relayers/other/transactions', elsewhere)
  const fees = (await Promise.all([first, second, canceled].map(feeOf))).reduce((sum, fee) => sum + fee, 0n)

  const { rows } = await activity()
  expect(new Set(rows.map(({ network, name }) => `${network} ${name}`))).toEqual(new Set(['evm:anvil null']))
  expect([total(rows, 'accepted'), total(rows, 'confirmed'), total(rows, 'canceled')]).toEqual([4, 2, 1])
  expect(rows.every(({ wait_median_ms: median = 0, wait_p95_ms: p95 = 0 }) => median <= p95)).toBe(true)

  const byRelayer = (await activity({ by: 'relayer' })).rows.filter(({ name }) => name === 'main')
  expect(total(byRelayer, 'accepted')).toBe(3)
  expect(byRelayer.reduce((sum, row) => sum + BigInt(row.fees), 0n)).toBe(fees)

  const byKey = (await activity({ by: 'api_key', step: 'day' })).rows
  expect(
    total(
      byKey.filter(({ name }) => name === limited.id),
      'accepted',
    ),
  ).toBe(1)
  expect(byKey.every(({ start }) => start.endsWith('T00:00:00.000Z'))).toBe(true)

  const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
    id: 'other-only',
    name: 'Other',
    scopes: ['transactions:read'],
    relayers: ['other'],
  })
  const seen = (await activity({ by: 'relayer' }, body.data.secret)).rows
  expect(new Set(seen.map(({ name }) => name))).toEqual(new Set(['other']))
})

test('nothing was accepted in another time', async () => {
  const { rows } = await activity({ from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' })
  expect(rows).toEqual([])
})

test.each([
  [{ to: '2020-01-01T00:00:00Z' }, 'query.to'],
  [{ from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z' }, 'query.to: expected a time up to 200 hours'],
  [{ from: '2020-01-01T00:00:00Z', to: '2021-01-01T00:00:00Z', step: 'day' }, 'up to 200 days'],
  [{ step: 'minute' }, 'query.step'],
  [{ by: 'user' }, 'query.by'],
  [{ from: 'yesterday' }, 'query.from'],
])('%j is refused with the field', async (more, words) => {
  const { status, body } = await story.service.api(
    'GET',
    `/reports/activity?${query(more as Record<string, string>)}`,
  )
  expect([status, body.error]).toEqual([400, expect.stringContaining(words)])
})
