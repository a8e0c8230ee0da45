import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PriceSource } from '../../src/chains/sponsoring.ts'
import { inCoins } from '../../src/lib/bigint.ts'
import { createGuardedHttpClient } from '../../src/security/guarded-http-client.ts'
import { chargeOf, showPrice } from '../../src/sponsoring/charge.ts'
import { MAX_PRICE_BYTES } from '../../src/sponsoring/http-price.ts'
import { agreedPrice, parseDecimal } from '../../src/sponsoring/price.ts'
import { createPriceReader } from '../../src/sponsoring/prices.ts'
import { createTestClock } from '../support/clock.ts'

const NOW = Date.UTC(2026, 10, 28)
const sample = (text: string, ageMs = 0) => ({
  ...(parseDecimal(text) ?? { numerator: 0n, denominator: 1n }),
  at: new Date(NOW - ageMs),
})

describe('two sources', () => {
  test.each([
    ['100', '102', 2, '102'],
    ['102', '100', 2, '102'],
    ['0.000000000000000001', '0.000000000000000001', 0, '0.000000000000000001'],
  ])(
    'of %s and %s agree within %s percent, and the relayer gets the higher price',
    (one, other, percent, price) => {
      const answer = agreedPrice([sample(one), sample(other)], { max_difference_percentage: percent }, NOW)
      expect(answer.kind === 'ok' && answer.value).toMatchObject(parseDecimal(price) ?? {})
    },
  )

  test.each([
    ['that differ by more than they may', ['100', '102.0001'], 0, /differ by more than 2 percent/],
    ['of which one is too old', ['100', '100'], 60_001, /too old/],
    ['of which one is from the future', ['100', '100'], -60_001, /too old/],
  ])('%s give no price', (_name, [one = '', other = ''], ageMs, detail) => {
    const answer = agreedPrice([sample(one), sample(other, ageMs)], {}, NOW)
    expect(answer).toMatchObject({ kind: 'unknown', detail: expect.stringMatching(detail) })
  })
})

test.each([
  ['148.25', 14825n, 100n],
  ['1.5e-3', 15n, 10_000n],
  ['2E2', 200n, 1n],
])('%s is read exactly', (text, numerator, denominator) => {
  expect(parseDecimal(text)).toEqual({ numerator, denominator })
})

test.each(['0', '0.000', '-1', '', '1e999', 'NaN', 'Infinity', '1,5', '0x10'])('%j is no price', (text) => {
  expect(parseDecimal(text)).toBeUndefined()
})

describe('a charge', () => {
  const facts = {
    decimals: 9,
    tokenDecimals: 6,
    price: { numerator: 150n, denominator: 1n },
    token: { mint: 'm' },
  }

  test.each([
    ['a lamport costs at least one unit', 1n, {}, 1n],
    ['one percent is added by default', 10_000n, {}, 1_515n],
    ['the margin comes on top', 10_000n, { feeMarginPercentage: 0.5 }, 1_523n],
    ['nothing is added if nothing is to be', 10_000n, { slippagePercentage: 0 }, 1_500n],
    ['it is exact beyond 2^53', 10n ** 18n, { slippagePercentage: 0 }, 150_000_000_000_000_000n],
  ])('%s', (_name, fee, policies, amount) => {
    expect(chargeOf({ ...facts, fee, policies }).amount).toBe(amount)
  })

  test('is shown in whole tokens, without a rounding', () => {
    expect([inCoins(1_515n, 6), inCoins(0n, 6), inCoins(10n ** 20n + 1n, 2), inCoins(7n, 0)]).toEqual([
      '0.001515',
      '0',
      '1000000000000000000.01',
      '7',
    ])
    expect(showPrice({ numerator: 1n, denominator: 3n })).toBe('0.333333333333')
  })
})

describe('a web server', () => {
  let server: Server
  let answer: { status: number; body: string }
  const open = createGuardedHttpClient({ allowPrivate: true }, { wholeBodyBytes: MAX_PRICE_BYTES })
  const guarded = createGuardedHttpClient({ allowPrivate: false }, { wholeBodyBytes: MAX_PRICE_BYTES })
  const clock = { ...createTestClock(NOW) }
  let requests = 0

  beforeAll(async () => {
    server = createServer((_request, response) => {
      requests += 1
      response.writeHead(answer.status, { 'content-type': 'application/json', location: '/elsewhere' })
      response.end(answer.body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    open.close()
    guarded.close()
    await new Promise((resolve) => server.close(resolve))
  })

  async function read(body: string, more: object = {}, http = open, status = 200) {
    answer = { status, body }
    const { port } = server.address() as AddressInfo
    const source = {
      type: 'http',
      url: `http://127.0.0.1:${port}/secret-key`,
      pointer: '/a/0/price',
      ...more,
    }
    const chain = { oraclePrice: () => Promise.reject(new Error('no oracle is asked')) }
    const token = { mint: 'm', price: { sources: [source as PriceSource] } }
    return createPriceReader({ http, clock }).read('solana:local', chain, token)
  }

  test('gives a price, as a number of any length or as a text', async () => {
    const digits = '148.123456789012345678901'
    for (const price of [digits, `"${digits}"`]) {
      const found = await read(`{"a":[{"price":${price},"at":${NOW / 1_000}}]}`, { time_pointer: '/a/0/at' })
      expect(found).toEqual({ kind: 'ok', value: expect.objectContaining(parseDecimal(digits)) })
    }
  })

  test.each<[string, string, object, number]>([
    ['no JSON', '<html>', {}, 200],
    ['another status', '{"a":[{"price":1}]}', {}, 500],
    ['a redirect', '{"a":[{"price":1}]}', {}, 302],
    ['nothing at the pointer', '{"a":[]}', {}, 200],
    ['a price of zero', '{"a":[{"price":0}]}', {}, 200],
    ['a property of every object', '{"a":[{"price":1}]}', { pointer: '/constructor/name' }, 200],
    ['an old time', `{"a":[{"price":1,"at":${NOW - 61_000}}]}`, { time_pointer: '/a/0/at' }, 200],
    ['no time where one is expected', '{"a":[{"price":1}]}', { time_pointer: '/a/0/at' }, 200],
    ['more bytes than a price has', `{"a":[{"price":1}],"x":"${'x'.repeat(MAX_PRICE_BYTES)}"}`, {}, 200],
  ])('with %s gives no price, and its path stays secret', async (_name, body, more, status) => {
    const found = await read(body, more, open, status)
    expect(found.kind).toBe('unknown')
    expect(JSON.stringify(found)).not.toContain('secret-key')
  })

  test('in a private network is not reached', async () => {
    const before = requests
    expect((await read('{"a":[{"price":1}]}', {}, guarded)).kind).toBe('unknown')
    expect(requests).toBe(before)
  })
})

describe('prices in dollars', () => {
  const SOL = 'So11111111111111111111111111111111111111112'
  const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
  const [COIN, UNIT] = ['ef'.repeat(32), 'ea'.repeat(32)]
  const http = createGuardedHttpClient({ allowPrivate: true }, { wholeBodyBytes: MAX_PRICE_BYTES })
  const clock = createTestClock(NOW)
  /** The newest slot that the endpoints reported. */
  const HEAD = 1_000n
  const chain = {
    oraclePrice: () => Promise.reject(new Error('no oracle is asked')),
    blockAge: (block: bigint) =>
      block > HEAD
        ? ({ kind: 'unknown', detail: 'no endpoint has it' } as const)
        : ({ kind: 'ok', value: Number(HEAD - block) * 400 } as const),
  }
  let server: Server
  let bodies: Record<string, unknown>
  let asked: string[]

  beforeAll(async () => {
    server = createServer(({ url = '' }, response) => {
      asked.push(url)
      const [path = ''] = url.split('?')
      response.end(JSON.stringify(bodies[path] ?? null))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    http.close()
    await new Promise((resolve) => server.close(resolve))
  })

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  async function read(sources: readonly object[], answers: Record<string, unknown>, rules: object = {}) {
    bodies = answers
    asked = []
    const token = { mint: MINT, price: { sources: sources as PriceSource[], ...rules } }
    return createPriceReader({ http, clock }).read('solana:local', chain, token)
  }

  const jupiter = (sol: unknown, token: unknown, blocks: readonly unknown[] = [990, 1_000]) => ({
    '/price/v3': {
      [SOL]: { usdPrice: sol, blockId: blocks[0], decimals: 9 },
      [MINT]: { usdPrice: token, blockId: blocks[1], decimals: 6 },
    },
  })
  const feed = (id: string, price: object) => ({
    id,
    price: { price: '15000000000', conf: '0', expo: -8, publish_time: NOW / 1_000, ...price },
  })
  const pyth = (coin: object = {}, unit: object = {}) => ({
    '/v2/updates/price/latest': { parsed: [feed(UNIT, { price: '50000000', ...unit }), feed(COIN, coin)] },
  })
  const fromJupiter = () => ({ type: 'jupiter', url: `${url()}/` })
  const fromPyth = (more: object = {}) => ({
    type: 'pyth',
    url: url(),
    native: `0x${COIN}`,
    token: UNIT,
    ...more,
  })

  test('of Jupiter make the price of SOL in the token', async () => {
    const found = await read([fromJupiter()], jupiter(150.25, 0.5))
    expect(found).toMatchObject({ kind: 'ok', value: { at: new Date(NOW - 4_000) } })
    expect(found.kind === 'ok' && showPrice(found.value)).toBe('300.5')
    expect(asked).toEqual([`/price/v3?ids=${SOL},${MINT}`])
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['an old block', jupiter(150, 1, [1_000, 800]), /too old/],
    ['a block that nobody has', jupiter(150, 1, [9_999, 1_000]), /names no block/],
    ['no block', jupiter(150, 1, [1_000, undefined]), /names no block/],
    ['a price of zero', jupiter(150, 0), /no price of EPj/],
    ['a negative price', jupiter(-1, 1), /no price of SOL/],
    ['no price of the token', { '/price/v3': { [SOL]: { usdPrice: 1, blockId: 1 } } }, /no price of EPj/],
    ['null', {}, /no price of SOL/],
  ])('of Jupiter with %s are none', async (_, answers, says) => {
    const found = await read([fromJupiter()], answers)
    expect(found).toEqual({ kind: 'unknown', detail: expect.stringMatching(says) })
  })

  test('of Pyth count at the end of their intervals at which the token is cheaper', async () => {
    const found = await read([fromPyth()], pyth({ conf: '150000000' }, { conf: '500000' }))
    expect(found.kind === 'ok' && showPrice(found.value)).toBe('306.060606060606')
    const alone = await read([fromPyth({ token: undefined })], pyth())
    expect(alone.kind === 'ok' && showPrice(alone.value)).toBe('150')
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['an interval that is too wide', pyth({ conf: '300000001' }), /uncertain by more than 2 percent/],
    ['an old time', pyth({}, { publish_time: NOW / 1_000 - 61 }), /too old/],
    ['a time to come', pyth({ publish_time: NOW / 1_000 + 3_600 }), /too old/],
    ['a negative price', pyth({ price: '-5' }), /no price of the feed/],
    ['a huge exponent', pyth({ expo: 40 }), /no price of the feed/],
    [
      'another feed alone',
      { '/v2/updates/price/latest': { parsed: [feed(UNIT, {})] } },
      /no price of the feed/,
    ],
  ])('of Pyth with %s are none', async (_, answers, says) => {
    const found = await read([fromPyth()], answers)
    expect(found).toEqual({ kind: 'unknown', detail: expect.stringMatching(says) })
  })

  test('of a source that lies are none where two must agree', async () => {
    const both = () => [fromJupiter(), fromPyth()]
    const honest = await read(both(), { ...jupiter(150, 0.5), ...pyth() })
    expect(honest.kind === 'ok' && showPrice(honest.value)).toBe('300')
    for (const price of [15, 1_500])
      expect(await read(both(), { ...jupiter(price, 0.5), ...pyth() })).toEqual({
        kind: 'unknown',
        detail: expect.stringMatching(/differ by more than 2 percent/),
      })
  })
})
