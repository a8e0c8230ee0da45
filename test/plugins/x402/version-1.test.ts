import { ExactEvmSchemeV1 } from '@x402/evm/v1'
import { expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { startEvmSite } from './evm-site.ts'
import { createWorld } from './world.ts'

test('a client of version 1 pays on a network that it names in its own way', async () => {
  const site = await startEvmSite({ network: { chain_id: 84532 } }, ['--chain-id', '84532'])
  onTestFinished(site.stop)
  const world = createWorld(site.service.url)
  const settings = readSettings({ networks: [{ network: 'eip155:84532', relayer_id: 'main' }] })
  expect(await supported(settings, world)).toMatchObject({
    kinds: [
      { x402Version: 2, scheme: 'exact', network: 'eip155:84532' },
      { x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
    ],
  })
  const payer = await site.payer()
  const paymentRequirements = {
    scheme: 'exact',
    network: 'base-sepolia',
    maxAmountRequired: '10000',
    resource: 'https://shop.example/report',
    description: 'A report',
    mimeType: 'application/json',
    payTo: site.payTo,
    maxTimeoutSeconds: 60,
    asset: site.token,
    extra: { name: 'Test Dollar', version: '2' },
  }
  const paymentPayload = await new ExactEvmSchemeV1(payer).createPaymentPayload(
    1,
    paymentRequirements as never,
  )
  const call = { body: { x402Version: 1, paymentPayload, paymentRequirements }, caller: 'shop' }
  expect(await verify(call, settings, world)).toEqual({ isValid: true, payer: payer.address.toLowerCase() })
  expect(await settle(call, settings, world)).toMatchObject({
    success: true,
    network: 'base-sepolia',
    payer: payer.address.toLowerCase(),
  })
  expect(await site.balanceOf(payer.address)).toBe(990_000n)
}, 60_000)
