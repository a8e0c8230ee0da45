import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

/** The bucket of a key refills by a unit in a second, so that no batch of these tests finds more than it should. */
const BURST = 1000

let story: Scenario

beforeAll(async () => {
  const env = { RATE_LIMIT_REQUESTS_PER_SECOND: '1', RATE_LIMIT_BURST_SIZE: String(BURST) }
  story = await startScenario({ policies: { wallet_rpc: true }, env })
}, 60_000)
afterAll(() => story.stop())

interface Reply {
  readonly status: number
  readonly left: number
  readonly retryAfter: string | null
  readonly body: { readonly code?: string; readonly error?: string }
}

type Send = (path: string, body: object) => Promise<Reply>

/** A new key, so that each test begins with a full bucket. */
async function newKey(): Promise<Send> {
  const scopes = ['transactions:read', 'transactions:write', 'rpc', 'sign']
  const issued = await story.service.api<{ secret: string }>('POST', '/api-keys', { name: 'Batches', scopes })
  const authorization = `Bearer ${issued.body.data.secret}`
  return async (path, body) => {
    const {
      status,
      headers,
      body: answer,
    } = await story.service.api('POST', `/relayers/main/${path}`, body, {
      authorization,
    })
    const left = Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    return { status, left, retryAfter: headers.get('retry-after'), body: answer }
  }
}

const payments = (count: number) => Array.from({ length: count }, () => ({ to: RECEIVER, value: 1 }))
const batch = (count: number) => ({ transactions: payments(count) })
const bundle = (count: number) => ({
  id: 1,
  method: 'wallet_sendCalls',
  params: [
    {
      version: '2.0.0',
      chainId: '0x7a69',
      atomicRequired: false,
      calls: Array.from({ length: count }, () => ({ to: RECEIVER, value: '0x1' })),
    },
  ],
})

/** Leaves a key so few units. */
async function spendTo(send: Send, left: number): Promise<void> {
  const many = Array.from({ length: 50 }, () => bundleOfNothing(100))
  for (let count = BURST; count > left; ) {
    const units = Math.min(count - left, 1000)
    const calls = Math.ceil(units / 100)
    const last = units - (calls - 1) * 100
    const body = [...many.slice(0, calls - 1), bundleOfNothing(last)]
    count = (await send('rpc', body)).left
  }
}

/** A bundle that is counted and refused, because its version is unknown. */
const bundleOfNothing = (count: number) => {
  const { params, ...call } = bundle(count)
  return { ...call, params: [{ ...params[0], version: '0' }] }
}

const accepted = async () =>
  (await story.service.api('GET', '/relayers/main/transactions?per_page=0')).body.pagination?.total_items

/** Expects this many units to be gone; a slow machine refills some of them while a request is under way. */
function expectCounted({ left }: Reply, units: number): void {
  expect(left).toBeGreaterThanOrEqual(BURST - units)
  expect(left).toBeLessThan(BURST - units / 2)
}

describe('the rate limit counts', () => {
  test('each transaction of a batch', async () => {
    const send = await newKey()
    const reply = await send('transactions/batch', batch(100))
    expect(reply.status).toBe(200)
    expectCounted(reply, 100)
  })

  test.each([
    [
      'each call of a JSON-RPC batch',
      Array.from({ length: 50 }, (_, id) => ({ id, method: 'eth_chainId' })),
      50,
    ],
    ['each call of a bundle', bundle(100), 100],
    ['each call of the bundles of a batch', [bundle(40), { id: 2, method: 'eth_chainId' }, bundle(30)], 71],
  ])('%s', async (_name, body, units) => {
    const send = await newKey()
    const reply = await send('rpc', body)
    expect(reply.status).toBe(200)
    expectCounted(reply, units)
  })
})

describe('a batch for which too little is left', () => {
  test.each([
    ['of transactions', 'transactions/batch', batch(80)],
    ['of bundles', 'rpc', [bundle(40), bundle(40)]],
  ])('(%s) is 429, and nothing of it is accepted', async (_name, path, body) => {
    const send = await newKey()
    await spendTo(send, 20)
    const before = await accepted()
    const { status, retryAfter, body: answer } = await send(path, body)
    expect({ status, code: answer.code }).toEqual({ status: 429, code: 'rate_limited' })
    expect(answer.error).toContain('it counts for 80')
    expect(Number(retryAfter)).toBeGreaterThan(0)
    expect(Number(retryAfter)).toBeLessThanOrEqual(61)
    expect(await accepted()).toBe(before)
  })
})

test('a batch that is larger than the burst is served from a full bucket, and its units count', async () => {
  const send = await newKey()
  const many = Array.from({ length: 15 }, () => bundleOfNothing(100))
  expect((await send('rpc', many)).status).toBe(200)
  const { status, retryAfter } = await send('rpc', { id: 1, method: 'eth_chainId' })
  expect(status).toBe(429)
  expect(Number(retryAfter)).toBeGreaterThan(BURST / 4)
  expect(Number(retryAfter)).toBeLessThanOrEqual(BURST / 2 + 1)
})
