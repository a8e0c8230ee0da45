import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { mostWaiting, waitBefore } from '../../../src/transactions/accept/queue-limit.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const ALL = '/relayers/main/transactions'
const payment = (value: number) => ({ to: RECEIVER, value, gas_limit: 21_000 })

async function start(policies: object, maxInFlight: number): Promise<Scenario> {
  const scenario = await startScenario({
    policies,
    network: { average_blocktime_ms: 1_000 },
    env: { RELAYER_MAX_IN_FLIGHT: String(maxInFlight) },
  })
  onTestFinished(async () => {
    await scenario.settle()
    await scenario.stop()
  })
  return scenario
}

/** The headers of a new key that may send and read. */
async function newCaller({ service }: Scenario): Promise<Record<string, string>> {
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Other',
    scopes: ['transactions:write', 'transactions:read'],
  })
  return { authorization: `Bearer ${body.data.secret}` }
}

const nonceOf = async ({ get }: Scenario, id: string) => (await get(id)).nonce

test.each([
  ['with fair_share, a key that sends one has its turn before a key that sent ten', true, 3],
  ['without it, the order of acceptance counts', false, 10],
])('%s', async (_what, isFair, nonce) => {
  const story = await start({ fair_share: isFair }, 2)
  for (let value = 0; value < 10; value += 1) await story.send(payment(value))
  const headers = await newCaller(story)
  const { body } = await story.service.api('POST', ALL, payment(99), headers)
  await until(
    async () => {
      await story.mine()
      return nonceOf(story, body.data.id)
    },
    (found) => found !== undefined,
  )
  expect(await nonceOf(story, body.data.id)).toBeLessThanOrEqual(nonce)
  if (!isFair) expect(await nonceOf(story, body.data.id)).toBe(nonce)
})

test('max_queue_seconds of a request refuses at once what would wait longer, without the policy', async () => {
  const story = await start({}, 1)
  // One that is in flight does not wait any more.
  const first = await story.send(payment(0))
  await story.reach(first.id, 'submitted')
  for (let value = 1; value <= 3; value += 1) await story.send(payment(value))
  const send = (query: string) => story.service.api('POST', `${ALL}${query}`, payment(4))
  expect(await send('?max_queue_seconds=3')).toMatchObject({
    status: 429,
    body: { code: 'rate_limited', error: expect.stringContaining('within 3 s (max_queue_seconds)') },
  })
  const { body } = await send('?max_queue_seconds=3&dry_run=true')
  expect(JSON.stringify(body.data)).toContain('rate_limited')
  expect((await send('?max_queue_seconds=60')).status).toBe(200)
  expect((await send('')).status).toBe(200)
})

test('a queue that cannot be served in time refuses with 429 and says when to try again', async () => {
  const story = await start({ max_queue_seconds: 3 }, 1)
  const first = await story.send(payment(0))
  await story.reach(first.id, 'submitted')
  for (let value = 1; value <= 3; value += 1) await story.send(payment(value))
  const response = await fetch(`${story.service.url}/api/v1${ALL}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(payment(4)),
  })
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
  const dry = await story.service.api<Schemas['DryRun']>('POST', `${ALL}?dry_run=true`, payment(4))
  expect(dry.body.data).toMatchObject({ accepted: false, code: 'rate_limited', simulation: 'skipped' })
  expect(await response.json()).toMatchObject({
    code: 'rate_limited',
    error:
      'Relayer main has too many waiting transactions to send this within 3 s (max_queue_seconds). Nothing was stored; try again in 1 s.',
  })
  await until(
    async () => {
      await story.mine()
      return story.service.api('POST', ALL, payment(5))
    },
    ({ status }) => status === 200,
  )
})

test('with fair_share, the queue of another key refuses nothing', async () => {
  const story = await start({ max_queue_seconds: 3, fair_share: true }, 1)
  const first = await story.send(payment(0))
  await story.reach(first.id, 'submitted')
  for (let value = 1; value <= 3; value += 1) await story.send(payment(value))
  expect((await story.service.api('POST', ALL, payment(4))).status).toBe(429)
  const headers = await newCaller(story)
  expect((await story.service.api('POST', ALL, payment(4), headers)).status).toBe(200)
})

test('a batch counts as a whole, and a repeated idempotency key is answered', async () => {
  const story = await start({ max_queue_seconds: 3 }, 1)
  const key = { 'idempotency-key': 'before' }
  const first = await story.service.api('POST', ALL, payment(0), key)
  const batch = (count: number) =>
    story.service.api('POST', `${ALL}/batch`, {
      transactions: Array.from({ length: count }, (_, value) => payment(value)),
    })
  const tooLarge = await batch(5)
  expect([tooLarge.status, tooLarge.body.error]).toEqual([
    400,
    'body.transactions: at most 3 are expected, not 5: more cannot be sent within 3 s (max_queue_seconds).',
  ])
  await story.reach(first.body.data.id, 'submitted')
  expect((await batch(3)).status).toBe(200)
  expect((await batch(1)).status).toBe(429)
  const again = await story.service.api('POST', ALL, payment(0), key)
  expect([again.status, again.body.data.id]).toEqual([200, first.body.data.id])
})

test.each([
  ['one more than blocks can include', { count: 49 }, 1],
  ['many more', { count: 48 + 160 }, 20],
  ['as many as blocks can include', { count: 48 }, undefined],
  ['few, and the oldest waits longer than allowed', { count: 2, oldestAt: new Date(0) }, 2],
  ['few, and the oldest waits as long as allowed', { count: 2, oldestAt: new Date(4_000) }, undefined],
])('the wait for a queue with %s', (_what, length, expected) => {
  const queue = { blockSeconds: 2, slots: 16, maxQueueSeconds: 6, now: 10_000 }
  expect(mostWaiting(queue)).toBe(48)
  expect(waitBefore(queue, { oldestAt: undefined, ...length })).toBe(expected)
})
