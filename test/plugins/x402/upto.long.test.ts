import { UptoEvmScheme as PayerScheme } from '@x402/evm/upto/client'
import { UptoEvmScheme as ShopScheme } from '@x402/evm/upto/server'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { type Hex, numberToHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { RECEIVER } from '../../support/service.ts'
import { TOKEN_CODE } from './contract-code.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, FUNDS, NETWORK, RELAYER, startEvmSite, TOKEN } from './evm-site.ts'
import { approve, charging, type PermitParts, permitBy, placePermit2 } from './permit2-payment.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { startShop } from './shop.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld

beforeAll(async () => {
  site = await startEvmSite({ plugins: [pluginEntry([{ network: NETWORK, relayer_id: 'main' }])] })
  await placePermit2(site)
  world = createWorld(site.service.url)
  await untilReady(site.service)
}, 120_000)

afterAll(() => site.stop())

const settings = (network: object = {}) =>
  readSettings({ networks: [{ network: NETWORK, relayer_id: 'main', ...network }], timeout_seconds: 10 })
const ask = (body: unknown) => ({ body, caller: 'shop' })

/** A payer who lets Permit2 spend what he has. */
async function payerWith(units = FUNDS): Promise<PrivateKeyAccount> {
  const payer = await site.payer(units)
  await approve(site, payer)
  return payer
}

const settling = (body: object) => settle(ask(body), settings(), world)
const sendable = async () => (await site.service.api('GET', '/relayers/main/transactions')).body.pagination

describe('the clients of npm', () => {
  async function buy(payer: PrivateKeyAccount, charge?: string) {
    const shop = await startShop({
      facilitator: `${site.service.url}/x402`,
      network: NETWORK,
      asset: site.token,
      payTo: site.payTo,
      scheme: new ShopScheme(),
      ...(charge !== undefined && { charge }),
    })
    onTestFinished(shop.stop)
    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client: new PayerScheme(payer) }],
      spendControls: false,
    })
    const response = await pay(shop.url)
    const header = response.headers.get('PAYMENT-RESPONSE')
    return {
      status: response.status,
      receipt: header === null ? undefined : decodePaymentResponseHeader(header),
    }
  }

  test('pay what the shop charges in the end, and keep the rest of what they signed', async () => {
    const payer = await payerWith()
    const before = await site.balanceOf(site.payTo)
    const { status, receipt } = await buy(payer, '1858')
    expect([status, receipt]).toMatchObject([
      200,
      { success: true, amount: '1858', payer: payer.address.toLowerCase(), network: NETWORK },
    ])
    expect(await site.balanceOf(site.payTo)).toBe(before + 1_858n)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 1_858n)
  }, 60_000)

  test('pay the whole amount where the shop names no other', async () => {
    const payer = await payerWith()
    expect(await buy(payer)).toMatchObject({ status: 200, receipt: { success: true, amount: '10000' } })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)

  test('pay nothing where the shop charges nothing, and nothing is sent', async () => {
    const payer = await payerWith()
    const before = await sendable()
    expect(await buy(payer, '0')).toMatchObject({
      status: 200,
      receipt: { success: true, amount: '0', transaction: '' },
    })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS)
    expect(await sendable()).toEqual(before)
  }, 60_000)
})

describe('a payment of at most an amount', () => {
  test('is offered with the account that settles, where x402’s proxy is', async () => {
    expect(await supported(settings(), world)).toMatchObject({
      kinds: [
        { scheme: 'exact', network: NETWORK },
        { scheme: 'upto', network: NETWORK, extra: { facilitatorAddress: RELAYER } },
      ],
      signers: { 'eip155:*': [RELAYER] },
    })
  })

  test('is settled once: a repeated request has the same answer, another amount is refused', async () => {
    const payer = await payerWith()
    const body = await permitBy(payer, site)
    expect(await verify(ask(body), settings(), world)).toEqual({
      isValid: true,
      payer: payer.address.toLowerCase(),
    })
    const answers = await Promise.all(Array.from({ length: 20 }, () => settling(charging(body, 4_000n))))
    const hashes = new Set(answers.map(({ transaction }) => transaction))
    expect([hashes.size, answers.every(({ success }) => success)]).toEqual([1, true])
    for (const amount of [4_001n, 3_999n, 0n])
      expect(await settling(charging(body, amount))).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
        transaction: '',
      })
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 4_000n)
  }, 60_000)

  test('needs only what is charged in the end: a payer who spent the rest meanwhile pays', async () => {
    const payer = await payerWith(4_000n)
    const body = await permitBy(payer, site)
    expect(await verify(ask(body), settings(), world)).toMatchObject({ invalidReason: 'insufficient_funds' })
    expect(await settling(charging(body, 4_001n))).toMatchObject({ errorReason: 'insufficient_funds' })
    expect(await settling(charging(body, 4_000n))).toMatchObject({ success: true, amount: '4000' })
    expect(await site.balanceOf(payer.address)).toBe(0n)
  }, 60_000)

  test('is not sent without a good signature although nothing is charged', async () => {
    const payer = await payerWith()
    const body = await permitBy(payer, { ...site, deadline: 1n })
    expect(await settling(charging(body, 0n))).toMatchObject({ errorReason: 'permit2_deadline_expired' })
    const other = await permitBy(await payerWith(), site)
    other.paymentPayload.payload.permit2Authorization.from = payer.address
    expect(await settling(charging(other, 0n))).toMatchObject({ errorReason: 'invalid_permit2_signature' })
  }, 60_000)
})

type Body = Awaited<ReturnType<typeof permitBy>>

/** Each attack: what is signed, how the request differs from it, what is charged, and why it is refused. */
const ATTACKS: readonly (readonly [string, string, Attack])[] = [
  ['charges more than was signed', 'invalid_upto_evm_payload_settlement_exceeds_amount', { charge: 10_001n }],
  [
    'charges more than was signed, with a higher promise',
    'permit2_amount_mismatch',
    { charge: 10_001n, change: (body) => promise(body, { amount: '20000' }) },
  ],
  [
    'pays another payee than the payer signed',
    'invalid_permit2_recipient_mismatch',
    { change: (body) => promise(body, { payTo: RECEIVER }) },
  ],
  [
    'pays another payee, with a witness that the payer did not sign',
    'invalid_permit2_signature',
    {
      change: (body) => {
        promise(body, { payTo: RECEIVER })
        Object.assign(body.paymentPayload.payload.permit2Authorization.witness, { to: RECEIVER })
      },
    },
  ],
  ['is signed for another facilitator', 'upto_facilitator_mismatch', { parts: { facilitator: RECEIVER } }],
  [
    'is signed for another facilitator, and says ours',
    'invalid_permit2_signature',
    {
      parts: { facilitator: RECEIVER },
      change: (body) =>
        Object.assign(body.paymentPayload.payload.permit2Authorization.witness, { facilitator: RELAYER }),
    },
  ],
  [
    'is signed for the proxy of exact payments',
    'invalid_permit2_spender',
    {
      parts: { scheme: 'exact' },
      change: (body) => {
        promise(body, { scheme: 'upto' })
        Object.assign(body.paymentPayload.payload.permit2Authorization.witness, { facilitator: RELAYER })
      },
    },
  ],
  [
    'is signed for a part, and asked for as a fixed amount',
    'invalid_permit2_spender',
    { change: (body) => promise(body, { scheme: 'exact' }) },
  ],
  ['is in another token', 'permit2_token_mismatch', { change: (body) => promise(body, { asset: RECEIVER }) }],
  ['is for more than the payer has', 'insufficient_funds', { parts: { maximum: FUNDS + 1n } }],
  ['has expired', 'permit2_deadline_expired', { parts: { deadline: 1n } }],
  [
    'is of version 1',
    'unsupported_scheme',
    {
      change: (body) =>
        Object.assign(body, {
          x402Version: 1,
          paymentPayload: { ...body.paymentPayload, ...body.paymentRequirements, x402Version: 1 },
        }),
    },
  ],
]

interface Attack {
  readonly parts?: Partial<PermitParts>
  readonly charge?: bigint
  readonly change?: (body: Body) => unknown
}

function promise(body: Body, change: object): void {
  Object.assign(body.paymentPayload, { accepted: { ...body.paymentPayload.accepted, ...change } })
  Object.assign(body, { paymentRequirements: { ...body.paymentRequirements, ...change } })
}

describe('a payment of at most an amount that', () => {
  test.each(ATTACKS)(
    '%s is refused as %s, and nothing is sent',
    async (_, reason, attack) => {
      const payer = await payerWith()
      const body = await permitBy(payer, { ...site, ...attack.parts })
      attack.change?.(body)
      const before = await sendable()
      const { charge } = attack
      const asked = charge === undefined ? body : charging(body, charge)
      expect(await settling(asked)).toMatchObject({ success: false, errorReason: reason, transaction: '' })
      expect(await sendable()).toEqual(before)
      expect(await site.balanceOf(payer.address)).toBe(FUNDS)
    },
    60_000,
  )

  test('is in a token that keeps a part of each transfer is refused', async () => {
    const taxing = await site.deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 1n])
    const payer = await site.payer(0n)
    await site.mint(payer.address, FUNDS, taxing)
    await approve({ ...site, token: taxing }, payer)
    const body = await permitBy(payer, { ...site, token: taxing })
    expect(await settling(charging(body, 5_000n))).toMatchObject({ errorReason: 'permit2_simulation_failed' })
    expect(await site.balanceOf(payer.address, taxing)).toBe(FUNDS)
  }, 60_000)

  test('is asked for at zero where the amount is fixed is refused', async () => {
    const body = await paymentBy(await site.payer(), site)
    expect(await settling(charging(body, 0n))).toMatchObject({
      errorReason: 'invalid_payment_requirements',
    })
  }, 60_000)

  test('is paid in no block is no success, whatever the receipt of its transaction says', async () => {
    const payer = await payerWith()
    const body = await permitBy(payer, site)
    const sent = await settling(charging(body, 5_000n))
    expect(sent).toMatchObject({ success: true })
    // The same permit for another amount has no transaction of its own, and the nonce is used.
    const fresh = createWorld(site.service.url)
    const relayer = await site.anvil.rpc<Hex>('eth_getTransactionCount', [RELAYER, 'latest'])
    expect(await settle(ask(charging(body, 5_001n)), settings(), fresh)).toMatchObject({ success: false })
    expect(await site.anvil.rpc<Hex>('eth_getTransactionCount', [RELAYER, 'latest'])).toBe(relayer)
    expect(numberToHex(await site.balanceOf(payer.address))).toBe(numberToHex(FUNDS - 5_000n))
  }, 60_000)
})
