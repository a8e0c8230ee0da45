import { recoverMessageAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const CAP = 340282366920938463463374607431768211455n

let story: Scenario
let ids: string[]

beforeAll(async () => {
  story = await startScenario({ policies: { gas_price_cap: String(CAP), min_balance: '9007199254740993' } })
  ids = []
  for (let value = 1; value <= 12; value += 1) ids.push((await story.send({ to: RECEIVER, value })).id)
  await Promise.all(ids.map((id) => story.reach(id, 'submitted')))
})
afterAll(() => story.stop())

type Listed = { id: string; policies?: Record<string, unknown> }[]

describe('lists', () => {
  test.each([
    ['without parameters', '', { current_page: 1, per_page: 10 }, 10],
    ['page 0 is page 1', '?page=0', { current_page: 1, per_page: 10 }, 10],
    ['page 2', '?page=2', { current_page: 2, per_page: 10 }, 2],
    ['past the end', '?page=3', { current_page: 3, per_page: 10 }, 0],
    ['per_page 0', '?per_page=0', { current_page: 1, per_page: 0 }, 0],
    ['per_page above 100', '?per_page=101', { current_page: 1, per_page: 100 }, 12],
    ['by status', '?status=submitted&per_page=5', { current_page: 1, per_page: 5 }, 5],
    ['by status in capitals', '?status=SUBMITTED', { current_page: 1, per_page: 10 }, 10],
  ])('%s', async (_name, query, page, count) => {
    const { status, body } = await story.service.api<Listed>('GET', `/relayers/main/transactions${query}`)
    expect(status).toBe(200)
    expect(body.pagination).toEqual({ ...page, total_items: 12 })
    expect(body.data).toHaveLength(count)
  })

  test('transactions are listed newest first, at both spellings of the path', async () => {
    for (const path of ['/relayers/main/transactions', '/relayers/main/transactions/']) {
      const { body } = await story.service.api<Listed>('GET', `${path}?per_page=100`)
      expect(body.data.map(({ id }) => id)).toEqual(ids.toReversed())
    }
  })

  test.each([
    ['page=abc', 'page'],
    ['page=-1', 'page'],
    ['per_page=1.5', 'per_page'],
    ['status=done', 'status'],
    ['colour=red', 'colour'],
  ])('?%s is a 400 that names it', async (query, field) => {
    const { status, body } = await story.service.api('GET', `/relayers/main/transactions?${query}`)
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
    expect(body.error).toContain(field)
  })

  test('relayers come with their policies as exact integers, notifications without their key', async () => {
    const relayers = await story.service.api<Listed>('GET', '/relayers')
    expect(relayers.body.data[0]?.policies).toEqual({ gas_price_cap: CAP, min_balance: 9007199254740993n })
    const notifications = await story.service.api('GET', '/notifications')
    expect(notifications.body.data).toEqual([
      { id: 'ops', type: 'webhook', url: 'http://127.0.0.1:9/***', has_signing_key: true },
    ])
  })
})

describe('integers (R17)', () => {
  afterAll(() => story.settle())

  test.each([
    ['2^128', '340282366920938463463374607431768211456'],
    ['−1', '-1'],
    ['1.5', '1.5'],
    ['a fraction that a double cannot see', '1.0000000000000000000001'],
    ['text that is no number', '"ten"'],
  ])('%s as value: a clear 400', async (_name, literal) => {
    const { status, body } = await story.service.api(
      'POST',
      '/relayers/main/transactions',
      `{"to":"${RECEIVER}","value":${literal}}`,
    )
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
    expect(body.error).toContain('value')
  })

  test.each([
    ['1000000000000000001', '1000000000000000001'],
    ['"1000000000000000001"', '1000000000000000001'],
    ['1e3', '1000'],
    ['9007199254740993', '9007199254740993'],
  ])('%s as value comes through unrounded', async (literal, value) => {
    const sent = await story.send(`{"to":"${RECEIVER}","value":${literal}}`)
    expect(sent.value).toBe(value)
    expect((await story.reach(sent.id, 'submitted')).attempts[0]?.value).toBe(value)
    const { hash } = await story.get(sent.id)
    const known = await story.anvil.rpc<{ value: string }>('eth_getTransactionByHash', [hash])
    expect(BigInt(known.value)).toBe(BigInt(value))
  })
})

test('2^128 − 1 as value is accepted, stored and signed without losing a digit', async () => {
  await story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], `0x${(2n ** 132n).toString(16)}`])
  const value = String(2n ** 128n - 1n)
  const sent = await story.send(`{"to":"${RECEIVER}","value":${value}}`)
  expect(sent.value).toBe(value)
  // Anvil adds value and gas in 128 bits and so calls this unaffordable; the service keeps the bytes and says why.
  const signed = await until(
    () => story.get(sent.id),
    (seen) => seen.status_reason?.includes('Insufficient funds') === true,
  )
  expect(signed).toMatchObject({ status: 'sent', value, attempts: [{ value }] })
  expect((await story.cancel(sent.id)).status).toBe(200)
  await story.settle()
  expect((await story.get(sent.id)).status).toBe('canceled')
})

describe('sign', () => {
  test.each(['', 'hello', '0x68656c6c6f', 'schön 🦊', 'a\nb'])(
    '%j: EIP-191 over its UTF-8 bytes',
    async (message) => {
      const { status, body } = await story.service.api<{ r: string; s: string; v: number; sig: string }>(
        'POST',
        '/relayers/main/sign',
        { message },
      )
      expect(status).toBe(200)
      const { r, s, v, sig } = body.data
      expect(sig).toBe(`${r}${s}${v.toString(16)}`)
      expect([r, s].every((half) => /^[0-9a-f]{64}$/.test(half)) && [27, 28].includes(v)).toBe(true)
      expect(await recoverMessageAddress({ message, signature: `0x${sig}` })).toBe(DEV_ADDRESSES[0])
    },
  )
})

test('what is deep enough when it is first seen is confirmed without another block', async () => {
  const sent = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(sent.id, 'submitted')
  await story.anvil.rpc('anvil_mine', ['0x3'])
  await story.reach(sent.id, 'confirmed')
})
