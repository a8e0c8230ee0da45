import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, FUNDS, NETWORK, RELAYER, startEvmSite } from './evm-site.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld

beforeAll(async () => {
  site = await startEvmSite()
  world = createWorld(site.service.url)
}, 60_000)

afterAll(() => site.stop())

const settings = () => readSettings({ ...site.config, timeout_seconds: 10 })
const ask = (body: unknown) => ({ body, caller: 'shop' })

describe('the facilitator on an EVM chain', () => {
  test('tells what it settles, and from which address', async () => {
    expect(await supported(settings(), world)).toEqual({
      kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK }],
      extensions: ['payment-identifier', 'eip2612GasSponsoring'],
      signers: { 'eip155:*': [RELAYER] },
    })
  })

  test('verifies and settles a payment, and answers the same when it is asked again', async () => {
    const payer = await site.payer()
    const before = await site.balanceOf(site.payTo)
    const body = await paymentBy(payer, site)
    expect(await verify(ask(body), settings(), world)).toEqual({
      isValid: true,
      payer: payer.address.toLowerCase(),
    })
    const first = await settle(ask(body), settings(), world)
    expect(first).toMatchObject({
      success: true,
      network: NETWORK,
      amount: '10000',
      extensions: { settlement: { repeated: false } },
    })
    expect(await settle(ask(body), settings(), world)).toEqual({
      ...first,
      extensions: { settlement: { repeated: true } },
    })
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    })
  })
})
