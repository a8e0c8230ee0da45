import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkWebhook, type Receiver, startReceiver } from '../../support/receiver.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, NETWORK, startEvmSite } from './evm-site.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'

const KEY = 'the-signing-key-of-a-seller-has-43-characters'

let site: EvmSite
let seller: Receiver
let operator: Receiver

beforeAll(async () => {
  seller = await startReceiver()
  operator = await startReceiver()
  site = await startEvmSite({
    network: { required_confirmations: 1 },
    notificationUrl: operator.url,
    plugins: [pluginEntry([{ network: NETWORK, relayer_id: 'main' }])],
    env: {
      RELAYER_ALLOW_PRIVATE_URLS: 'true',
      STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64'),
    },
  })
  await untilReady(site.service)
}, 120_000)

afterAll(async () => {
  await site.stop()
  await seller.stop()
  await operator.stop()
})

/** Settles as a resource server does, over HTTP. */
async function settle(body: object): Promise<{ success: boolean; transaction: string }> {
  const response = await fetch(`${site.service.url}/x402/settle`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { success: boolean; transaction: string }
}

/** The webhooks about a hash, after the final one has arrived. */
async function toldAbout(receiver: Receiver, hash: string) {
  return until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return receiver.received.filter(({ text }) => text.includes(hash))
    },
    (list) => list.some(({ body }) => body.payload.status === 'confirmed'),
    { timeoutMs: 60_000 },
  )
}

test('a seller has a webhook of his own about each payment to him, with payer, amount, asset, resource and hash', async () => {
  const notification = {
    url: seller.url,
    signing_key: KEY,
    transactions: { reference: `x402:${site.payTo.toLowerCase()}`, requested_by: 'plugin.x402' },
  }
  expect((await site.service.api('POST', '/notifications', notification)).status).toBe(201)
  const payer = await site.payer()
  const { success, transaction } = await settle(await paymentBy(payer, { ...site, amount: 1_234n }))
  expect(success).toBe(true)
  const webhooks = await toldAbout(seller, transaction)
  const last = webhooks.at(-1)
  expect(last?.body).toMatchObject({
    event: 'transaction_update',
    payload: {
      status: 'confirmed',
      relayer_id: 'main',
      hash: transaction,
      reference: `x402:${site.payTo.toLowerCase()}`,
      description: 'https://shop.example/report',
      transfers: [
        {
          from: payer.address,
          to: site.payTo,
          asset: site.token.toLowerCase(),
          amount: '1234',
        },
      ],
    },
  })
  for (const { text, headers } of webhooks) {
    expect(checkWebhook(text)).toBeUndefined()
    expect(headers['x-signature']).toBe(createHmac('sha256', KEY).update(text).digest('base64'))
  }
}, 90_000)

test('no other seller is told about it, and the operator is told about the payments of those without one', async () => {
  const payer = await site.payer()
  const { transaction } = await settle(await paymentBy(payer, { ...site, payTo: RECEIVER }))
  expect((await toldAbout(operator, transaction)).length).toBeGreaterThan(0)
  expect(seller.received.filter(({ text }) => text.includes(transaction))).toEqual([])
}, 90_000)

test('a resource that the payer wrote with control characters, or that is no URL, is not told, and the payment is made', async () => {
  for (const url of ['no url \u0007', '', `https://shop.example/${'a'.repeat(5_000)}`]) {
    const payer = await site.payer()
    const body = await paymentBy(payer, site)
    Object.assign(body.paymentPayload, { resource: { url } })
    expect(await settle(body)).toMatchObject({ success: true })
  }
}, 120_000)
