import { createPublicClient, type Hex, http, parseAbiItem } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle } from '../../../plugins/x402/facilitator.ts'
import { type PaymentReport, payments } from '../../../plugins/x402/payments.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { TOKEN_CODE } from './contract-code.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, NETWORK, startEvmSite, TOKEN } from './evm-site.ts'
import { approve, charging, permitBy, placePermit2 } from './permit2-payment.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld
/** Another token. */
let other: Hex

beforeAll(async () => {
  const readers = [{ key: 'root', payees: ['0x209693Bc6afc0C5328bA36FaF03C514EF312287C'] }]
  const config = { networks: [{ network: NETWORK, relayer_id: 'main' }], readers }
  site = await startEvmSite({
    network: { required_confirmations: 1 },
    plugins: [pluginEntry([], { config })],
  })
  await placePermit2(site)
  other = await site.deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
  world = createWorld(site.service.url)
  await untilReady(site.service)
}, 120_000)

afterAll(() => site.stop())

const today = () => new Date().toISOString().slice(0, 10)
const settings = () =>
  readSettings({
    ...site.config,
    timeout_seconds: 30,
    readers: [{ key: 'shop', payees: [site.payTo] }],
  })

function report(caller: string, query: Record<string, readonly string[]>): Promise<PaymentReport> {
  return payments({ query, caller }, settings(), world)
}

const ofToday = () => report('shop', { payee: [site.payTo], day: [today()] })

/** The tokens that the payee got from payers, by the events of the chain. */
async function onChain(token: Hex): Promise<{ payments: number; amount: string }> {
  const client = createPublicClient({ transport: http(site.anvil.url) })
  const logs = await client.getLogs({
    address: token,
    event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
    args: { to: site.payTo as Hex },
    fromBlock: 0n,
  })
  const amounts = logs.map(({ args }) => args.value ?? 0n)
  return { payments: logs.length, amount: amounts.reduce((sum, each) => sum + each, 0n).toString() }
}

describe('what a payee got on a day', () => {
  test('adds up to the chain, by asset, with the fees that blocks charged', async () => {
    const body = async (amount: bigint, token = site.token) => {
      const payer = await site.payer(0n)
      await site.mint(payer.address, amount, token)
      return paymentBy(payer, { ...site, token, amount })
    }
    const bodies: object[] = [await body(1_000n), await body(2_500n), await body(7n, other)]
    const payer = await site.payer()
    await approve(site, payer)
    bodies.push(charging(await permitBy(payer, site), 1_858n))
    for (const each of bodies)
      expect(await settle({ body: each, caller: 'shop' }, settings(), world)).toMatchObject({ success: true })
    // One that pays somebody else, and one that is refused, are none of it.
    const elsewhere = await paymentBy(await site.payer(), { ...site, payTo: RECEIVER })
    expect(await settle({ body: elsewhere, caller: 'shop' }, settings(), world)).toMatchObject({
      success: true,
    })
    const poor = await paymentBy(await site.payer(1n), site)
    expect(await settle({ body: poor, caller: 'shop' }, settings(), world)).toMatchObject({ success: false })

    const found = await until(ofToday, ({ waiting }) => waiting === 0, { timeoutMs: 60_000 })
    const sum = (asset: Hex) =>
      found.settled.find((each) => each.asset === asset.toLowerCase()) ?? { payments: 0, amount: '0' }
    expect(sum(site.token)).toMatchObject({ network: NETWORK, ...(await onChain(site.token)) })
    expect(sum(other)).toMatchObject({ network: NETWORK, ...(await onChain(other)) })
    expect(sum(site.token)).toMatchObject({ payments: 3, amount: '5358' })
    const search = `/transactions?reference=x402:${site.payTo.toLowerCase()}&limit=100`
    const { body: listed } = await site.service.api<{ hash: Hex }[]>('GET', search)
    const client = createPublicClient({ transport: http(site.anvil.url) })
    const receipts = await Promise.all(listed.data.map(({ hash }) => client.getTransactionReceipt({ hash })))
    const fees = receipts.reduce((sum, each) => sum + each.gasUsed * each.effectiveGasPrice, 0n)
    expect(found.fees).toEqual([{ network: NETWORK, amount: fees.toString() }])
    expect([found.failed, found.unknown_fees]).toEqual([0, 0])
  }, 120_000)

  test('is also what the export of the service has, as CSV', async () => {
    const query = new URLSearchParams({ reference: `x402:${site.payTo.toLowerCase()}`, status: 'confirmed' })
    const response = await fetch(`${site.service.url}/api/v1/reports/transactions?${query}`, {
      headers: { authorization: `Bearer ${API_KEY}`, accept: 'text/csv' },
    })
    const [head = '', ...rows] = (await response.text()).trim().split('\r\n')
    const columns = head.split(',')
    const column = (row: string, name: string) => row.split(',')[columns.indexOf(name)] ?? ''
    const ofToken = rows.filter((row) => column(row, 'asset') === site.token.toLowerCase())
    const sum = ofToken.reduce((total, row) => total + BigInt(column(row, 'amount_smallest_unit')), 0n)
    expect([ofToken.length, sum]).toEqual([3, 5_358n])
  }, 60_000)

  test('is empty on another day', async () => {
    expect(await report('shop', { payee: [site.payTo], day: ['2020-02-29'] })).toMatchObject({
      settled: [],
      fees: [],
      waiting: 0,
    })
  }, 60_000)

  test.each<[string, string, Record<string, readonly string[]>]>([
    ['someone else', 'payee_not_readable', { payee: [RECEIVER], day: ['2026-11-30'] }],
    ['no day', 'day_required', { payee: ['0x209693Bc6afc0C5328bA36FaF03C514EF312287C'] }],
    ['no payee', 'payee_required', { day: ['2026-11-30'] }],
    ['two payees', 'payee_required', { payee: ['a', 'b'], day: ['2026-11-30'] }],
    ['a day that is none', 'invalid_day', { payee: ['a'], day: ['2026-13-40'] }],
    ['a query in place of a day', 'invalid_day', { payee: ['a'], day: ['2026-11-30&to=0x'] }],
  ])('is refused for %s: %s', async (_, code, query) => {
    await expect(report('shop', query)).rejects.toMatchObject({ name: 'PluginError', code })
  })

  test('is refused for a key that the operator does not name, and for callers without one', async () => {
    for (const caller of ['other', '(anonymous)', ''])
      await expect(report(caller, { payee: [site.payTo], day: [today()] })).rejects.toMatchObject({
        status: 403,
      })
  })

  test('is answered at the path of the plugin', async () => {
    const url = `${site.service.url}/x402/payments?payee=${site.payTo}&day=${today()}`
    const response = await fetch(url, { headers: { authorization: `Bearer ${API_KEY}` } })
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { payee: site.payTo.toLowerCase(), settled: [{ payments: 3 }, { payments: 1 }] },
    ])
    expect((await fetch(url)).status).toBe(401)
  }, 60_000)
})
