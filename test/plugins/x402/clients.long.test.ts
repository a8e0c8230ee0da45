import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { ExactEvmScheme as PayerScheme } from '@x402/evm'
import { ExactEvmScheme as ShopScheme } from '@x402/evm/exact/server'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { getAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { API_KEY } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, NETWORK, startEvmSite } from './evm-site.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { type Shop, type ShopOptions, startShop } from './shop.ts'

let site: EvmSite

beforeAll(async () => {
  const networks = [{ network: NETWORK, relayer_id: 'main' }]
  site = await startEvmSite({
    plugins: [pluginEntry(networks), pluginEntry(networks, { id: 'open', mount: '/open', open_mount: true })],
  })
  await untilReady(site.service)
  await untilReady(site.service, 'open')
}, 120_000)

afterAll(() => site.stop())

async function openShop(more: Partial<ShopOptions> = {}): Promise<Shop> {
  const shop = await startShop({
    facilitator: `${site.service.url}/x402`,
    network: NETWORK,
    asset: site.token,
    payTo: site.payTo,
    extra: { name: 'Test Dollar', version: '2' },
    scheme: new ShopScheme(),
    ...more,
  })
  onTestFinished(shop.stop)
  return shop
}

const payWith = (account: PrivateKeyAccount) =>
  wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: 'eip155:*', client: new PayerScheme(account) }],
    spendControls: false,
  })

function receiptOf(response: Response) {
  return decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
}

describe('the clients of npm', () => {
  test('pay for a request: the payee has the tokens, and the payer the report and the hash', async () => {
    const shop = await openShop()
    const payer = await site.payer()
    const before = await site.balanceOf(site.payTo)
    const response = await payWith(payer)(shop.url)
    expect([response.status, await response.json()]).toEqual([200, { report: 'sunny' }])
    const receipt = receiptOf(response)
    expect(receipt).toMatchObject({ success: true, network: NETWORK, payer: payer.address.toLowerCase() })
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
    const found = await site.service.api<{ hash: string }[]>(
      'GET',
      `/transactions?hash=${receipt.transaction}`,
    )
    expect(found.body.data).toMatchObject([{ relayer_id: 'main', to: getAddress(site.token) }])
  }, 60_000)

  test('pay without an API key of the shop where the operator opens the path', async () => {
    const shop = await openShop({ facilitator: `${site.service.url}/open`, apiKey: null })
    const response = await payWith(await site.payer())(shop.url)
    expect(response.status).toBe(200)
    expect((await fetch(`${site.service.url}/x402/supported`)).status).toBe(401)
  }, 60_000)

  test('pay fifty at once, each exactly once', async () => {
    const shop = await openShop()
    const payers = await Promise.all(Array.from({ length: 50 }, () => site.payer(10_000n)))
    const before = await site.balanceOf(site.payTo)
    const responses = await Promise.all(payers.map((payer) => payWith(payer)(shop.url)))
    expect(responses.map(({ status }) => status)).toEqual(payers.map(() => 200))
    expect(new Set(responses.map((response) => receiptOf(response).transaction)).size).toBe(50)
    expect(await site.balanceOf(site.payTo)).toBe(before + 500_000n)
    expect(await Promise.all(payers.map(({ address }) => site.balanceOf(address)))).toEqual(
      payers.map(() => 0n),
    )
  }, 120_000)

  test('get no report without the tokens', async () => {
    const shop = await openShop()
    const response = await payWith(await site.payer(9_999n))(shop.url)
    expect([response.status, shop.sales()]).toEqual([402, 0])
  }, 60_000)
})

/** The processes of plugins that this process has started. */
function pluginProcesses(): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, , , parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/\(.*\)/, '()')
        .split(' ')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return Number(parent) === process.pid && command.includes('plugin.mjs') ? [Number(name)] : []
    } catch {
      return [] // It ended meanwhile.
    }
  })
}

test('thirty payments are settled once each although the process of the plugin is killed three times meanwhile', async () => {
  const payers = await Promise.all(Array.from({ length: 30 }, () => site.payer(10_000n)))
  const bodies = await Promise.all(payers.map((payer) => paymentBy(payer, site)))
  const before = await site.balanceOf(site.payTo)
  const settle = async (body: object) => {
    const response = await fetch(`${site.service.url}/x402/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` },
      body: JSON.stringify(body),
    })
    return (await response.json()) as { success: boolean; transaction?: string }
  }
  let kills = 0
  // Every request is repeated until it has a success, as a resource server does.
  const settled = bodies.map((body) =>
    until(
      () => settle(body),
      ({ success }) => success,
      { timeoutMs: 60_000 },
    ),
  )
  while (kills < 3) {
    await setTimeout(150)
    const processes = pluginProcesses()
    for (const pid of processes) process.kill(pid, 'SIGKILL')
    kills += processes.length > 0 ? 1 : 0
  }
  const answers = await Promise.all(settled)
  expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(30)
  expect(await Promise.all(bodies.map(settle))).toMatchObject(
    answers.map(({ transaction }) => ({ success: true, transaction })),
  )
  expect(await site.balanceOf(site.payTo)).toBe(before + 300_000n)
  for (const payer of payers) expect(await site.balanceOf(payer.address)).toBe(0n)
}, 120_000)
