import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme as PayerScheme } from '@x402/evm'
import { ExactEvmScheme as ShopScheme } from '@x402/evm/exact/server'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import {
  encodeFunctionData,
  getAddress,
  type Hex,
  parseAbi,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PERMIT2, PERMIT2_PROXY } from '../../../plugins/x402/evm/payment.ts'
import { API_KEY } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { PERMIT2_CODE, PERMIT2_PROXY_CODE } from './contract-code.ts'
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

const payWith = (account: PrivateKeyAccount, by: typeof fetch = fetch) =>
  wrapFetchWithPaymentFromConfig(by, {
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

const APPROVE = parseAbi(['function approve(address spender, uint256 value) returns (bool)'])

describe('Permit2', () => {
  beforeAll(async () => {
    await site.anvil.rpc('anvil_setCode', [PERMIT2, PERMIT2_CODE])
    await site.anvil.rpc('anvil_setCode', [PERMIT2_PROXY, PERMIT2_PROXY_CODE])
  })

  const openPermitShop = () =>
    openShop({ extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'permit2' } })

  /** What the payer does once, at its own expense. */
  async function approve(payer: PrivateKeyAccount): Promise<void> {
    await site.anvil.rpc('anvil_impersonateAccount', [payer.address])
    await site.anvil.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
    const data = encodeFunctionData({ abi: APPROVE, functionName: 'approve', args: [PERMIT2, 1_000_000n] })
    await site.anvil.rpc('eth_sendTransaction', [{ from: payer.address, to: site.token, data }])
  }

  test('pays for a request, and a repeated settlement has the same transaction', async () => {
    const shop = await openPermitShop()
    const payer = await site.payer()
    await approve(payer)
    const before = await site.balanceOf(site.payTo)
    const sent: RequestInit[] = []
    const remember: typeof fetch = (input, init) => {
      sent.push(input instanceof Request ? { headers: Object.fromEntries(input.headers) } : (init ?? {}))
      return fetch(input, init)
    }
    const response = await payWith(payer, remember)(shop.url)
    expect([response.status, await response.json()]).toEqual([200, { report: 'sunny' }])
    const receipt = receiptOf(response)
    expect(receipt).toMatchObject({ success: true, payer: payer.address.toLowerCase() })
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
    // The payment that was sent, once more.
    const header = new Headers(sent.at(-1)?.headers).get('PAYMENT-SIGNATURE') ?? ''
    const paymentPayload = decodePaymentSignatureHeader(header)
    const body = { x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted }
    expect(await call('settle', body)).toMatchObject({
      success: true,
      transaction: receipt.transaction,
      extensions: { settlement: { repeated: true } },
    })
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
    const { permit2Authorization } = paymentPayload.payload as {
      permit2Authorization: { spender: string; witness: object; permitted: object }
    }
    const changed = (changes: object) => {
      const payload = {
        ...paymentPayload.payload,
        permit2Authorization: { ...permit2Authorization, ...changes },
      }
      return call('verify', { ...body, paymentPayload: { ...paymentPayload, payload } })
    }
    const { witness, permitted } = permit2Authorization
    const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
    const refusals = [
      await changed({ spender: other }),
      await changed({ witness: { ...witness, to: other } }),
      await changed({ permitted: { ...permitted, token: other } }),
      await changed({ permitted: { ...permitted, amount: '9999' } }),
      await changed({ nonce: '1', deadline: '1' }),
      await changed({ nonce: '1', witness: { ...witness, validAfter: '99999999999' } }),
      await changed({ nonce: '1' }),
    ]
    expect(refusals.map(({ invalidReason }) => invalidReason)).toEqual([
      'invalid_permit2_spender',
      'invalid_permit2_recipient_mismatch',
      'permit2_token_mismatch',
      'permit2_amount_mismatch',
      'permit2_deadline_expired',
      'permit2_not_yet_valid',
      'invalid_permit2_signature',
    ])
  }, 60_000)

  test.each<[string, (signature: Hex) => Hex]>([
    ['v as 0 or 1', (signature) => `${signature.slice(0, -2)}0${signature.endsWith('1b') ? 0 : 1}` as Hex],
    [
      '64 bytes (EIP-2098)',
      (signature) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))),
    ],
  ])(
    'accepts the signature of a wallet that writes %s, and so does EIP-3009',
    async (_, write) => {
      const payer = await site.payer()
      await approve(payer)
      const wallet: PrivateKeyAccount = {
        ...payer,
        signTypedData: async (data) => write(await payer.signTypedData(data)),
      }
      for (const shop of [await openPermitShop(), await openShop()])
        expect((await payWith(wallet)(shop.url)).status).toBe(200)
      expect(await site.balanceOf(payer.address)).toBe(980_000n)
    },
    60_000,
  )

  test('tells a payer who has not allowed it to spend', async () => {
    const shop = await openPermitShop()
    const response = await payWith(await site.payer())(shop.url)
    expect(shop.sales()).toBe(0)
    expect(response.status).toBe(412)
  }, 60_000)
})

/** Asks the facilitator itself. */
async function call(route: 'verify' | 'settle', body: object) {
  const response = await fetch(`${site.service.url}/x402/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { success?: boolean; transaction?: string; invalidReason?: string }
}

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
  const settle = (body: object) => call('settle', body)
  let kills = 0
  // Every request is repeated until it has a success, as a resource server does.
  const settled = bodies.map((body) =>
    until(
      () => settle(body),
      ({ success }) => success === true,
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
