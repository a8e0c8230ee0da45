import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { discovered } from '../../../plugins/x402/discovery.ts'
import { settle } from '../../../plugins/x402/facilitator.ts'
import { RECEIVER } from '../../support/service.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, NETWORK, startEvmSite } from './evm-site.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld

beforeAll(async () => {
  site = await startEvmSite()
  world = createWorld(site.service.url)
}, 120_000)

afterAll(() => site.stop())

const settings = (more: object = {}) =>
  readSettings({
    ...site.config,
    timeout_seconds: 60,
    discovery: [{ payee: site.payTo, origin: 'https://shop.example' }],
    ...more,
  })

async function pay(url: string, payTo = site.payTo): Promise<void> {
  const body = await paymentBy(await site.payer(), { ...site, payTo })
  body.paymentPayload.resource = { url }
  const answer = await settle({ body, caller: 'shop' }, settings(), world)
  expect(answer).toMatchObject({ success: true })
}

interface Listed {
  readonly items: readonly { readonly resource: string; readonly accepts: readonly object[] }[]
  readonly pagination: object
}

const list = async (query: Record<string, readonly string[]> = {}, more: object = {}) =>
  (await discovered(query, settings(more), world)) as Listed

describe('the list of resources', () => {
  test('lists what was paid for, of the payees and origins that the operator names, and nothing else', async () => {
    await pay('https://shop.example/report?order=secret-of-the-payer')
    await pay('https://shop.example/weather')
    await pay('https://shop.example/report')
    await pay('https://phish.example/report')
    await pay('https://shop.example.evil.example/report')
    await pay('https://user:password@shop.example/report')
    await pay('javascript:alert(1)')
    await pay('https://shop.example/of-another-payee', RECEIVER)
    const { items, pagination } = await list()
    expect(items.map(({ resource }) => resource)).toEqual([
      'https://shop.example/weather',
      'https://shop.example/report',
    ])
    expect(items[0]).toMatchObject({
      type: 'http',
      x402Version: 2,
      accepts: [{ scheme: 'exact', network: NETWORK, amount: '10000', asset: site.token, payTo: site.payTo }],
      lastUpdated: expect.stringMatching(/Z$/),
    })
    expect(pagination).toEqual({ limit: 20, offset: 0, total: 2 })
  }, 120_000)

  test('has the filters and pages of the clients', async () => {
    const count = async (query: Record<string, readonly string[]>) => (await list(query)).items.length
    expect(await count({ payTo: [site.payTo.toUpperCase().replace('0X', '0x')] })).toBe(2)
    expect(await count({ payTo: [RECEIVER] })).toBe(0)
    expect(await count({ network: [NETWORK], scheme: ['exact'], type: ['http'] })).toBe(2)
    expect(await count({ scheme: ['upto'] })).toBe(0)
    expect(await count({ limit: ['1'], offset: ['1'] })).toBe(1)
    await expect(list({ limit: ['-1'] })).rejects.toMatchObject({ status: 400, code: 'invalid_limit' })
  })

  test('tells nothing of payees who are no longer listed, and is off by default', async () => {
    const others = { discovery: [{ payee: RECEIVER, origin: 'https://shop.example' }] }
    expect((await list({}, others)).items).toEqual([])
    await expect(list({}, { discovery: undefined })).rejects.toMatchObject({ status: 404 })
  })

  test('a store that is full costs no payment', async () => {
    const full: TestWorld = {
      ...createWorld(site.service.url),
      kv: {
        ...world.kv,
        set: async (key, value) => {
          if (key === 'discovery') throw new Error('The store is full.')
          return world.kv.set(key, value)
        },
      },
    }
    const body = await paymentBy(await site.payer(), site)
    body.paymentPayload.resource = { url: 'https://shop.example/new' }
    expect(await settle({ body, caller: 'shop' }, settings(), full)).toMatchObject({ success: true })
  }, 120_000)
})
