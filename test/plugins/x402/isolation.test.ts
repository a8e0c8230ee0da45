import { NETWORKS } from '@x402/evm/v1'
import { expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { NETWORKS_OF_VERSION_1 } from '../../../plugins/x402/wire.ts'
import { ON_ANVIL } from '../../support/anvil.ts'
import { DEV_KEYS, plainSigner } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { paymentBy } from './evm-payment.ts'
import { NETWORK, RELAYER, startEvmSite } from './evm-site.ts'
import { createWorld } from './world.ts'

test('a network that is down, one whose relayer is paused, one without funds, and two that are named wrongly touch no other', async () => {
  const dead = {
    type: 'evm',
    network: 'dead',
    chain_id: 424242,
    required_confirmations: 1,
    symbol: 'ETH',
    rpc_urls: ['http://127.0.0.1:9'],
  }
  const relayer = (id: string, more: object = {}) => ({
    id,
    name: id,
    signer_id: 'dev-1',
    ...ON_ANVIL,
    ...more,
  })
  const site = await startEvmSite({
    networks: [dead],
    signers: [
      ...DEV_KEYS.map((key, index) => plainSigner(`dev-${index}`, key)),
      plainSigner('dev-2', `0x${'42'.repeat(32)}`),
    ],
    relayers: [
      { id: 'main', name: 'Main', signer_id: 'dev-0', ...ON_ANVIL },
      relayer('dead', { network: 'dead' }),
      relayer('elsewhere', { paused: true }),
      { id: 'poor', name: 'Too', signer_id: 'dev-2', ...ON_ANVIL },
    ],
  })
  onTestFinished(site.stop)
  const world = createWorld(site.service.url)
  await until(
    async () => (await site.service.api<{ system_disabled: boolean }>('GET', '/relayers/poor')).body.data,
    ({ system_disabled }) => system_disabled,
  )
  const settings = readSettings({
    networks: [
      ...site.config.networks,
      { network: 'eip155:424242', relayer_id: 'dead' },
      { network: 'eip155:8453', relayer_id: 'elsewhere' },
      { network: 'eip155:10', relayer_id: 'nobody' },
      { network: 'eip155:1', relayer_id: 'poor' },
      { network: 'eip155:137', relayer_id: 'main' },
    ],
    timeout_seconds: 10,
  })
  const startedAt = performance.now()
  expect(await supported(settings, world)).toEqual({
    kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK }],
    extensions: ['payment-identifier', 'eip2612GasSponsoring'],
    signers: { 'eip155:*': [RELAYER] },
    unavailable: [
      { network: 'eip155:424242', reason: expect.stringMatching(/answer/) },
      { network: 'eip155:8453', reason: 'Its relayer is paused.' },
      { network: 'eip155:10', reason: expect.stringMatching(/not configured correctly/) },
      { network: 'eip155:1', reason: 'Its relayer is disabled: BalanceCheckFailed.' },
      { network: 'eip155:137', reason: expect.stringMatching(/not configured correctly/) },
    ],
  })
  expect(performance.now() - startedAt).toBeLessThan(8_000)
  const pay = async () =>
    settle({ body: await paymentBy(await site.payer(), site), caller: 'a' }, settings, world)
  expect(await pay()).toMatchObject({ success: true })

  await site.service.api('PATCH', '/relayers/main', { paused: true })
  expect(await supported(settings, world)).toMatchObject({
    kinds: [],
    unavailable: [{ network: NETWORK, reason: 'Its relayer is paused.' }, {}, {}, {}, {}, {}],
  })
  await site.service.api('PATCH', '/relayers/main', { paused: false })
  expect(await supported(settings, world)).toMatchObject({ kinds: [{ network: NETWORK }] })
}, 60_000)

test('every network of EVM that version 1 of the clients names is known', () => {
  expect(NETWORKS.filter((name) => !(name in NETWORKS_OF_VERSION_1))).toEqual([])
})
