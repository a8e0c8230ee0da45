import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/gasless/config.ts'
import { noteEvent } from '../../../plugins/gasless/events.ts'
import { send } from '../../../plugins/gasless/send.ts'
import type { Content } from '../../../plugins/gasless/wire.ts'
import { SPONSORED } from '../../../plugins/gasless/wire.ts'
import { until } from '../../support/until.ts'
import { createWorld, type TestWorld } from '../x402/world.ts'
import { forwardBy } from './sign.ts'
import { CHAIN_ID, countCall, type GaslessSite, GENEROUS, networkOf, startGaslessSite } from './site.ts'

let site: GaslessSite
let world: TestWorld

beforeAll(async () => {
  site = await startGaslessSite({ entries: () => [] })
  world = createWorld(site.service.url)
}, 60_000)
afterAll(() => site.stop())

const settings = () => readSettings({ networks: [networkOf(site)], ...GENEROUS })

async function content(): Promise<Content> {
  const { counter } = site.forwarders.openzeppelin
  const { to, data } = await forwardBy(site, 'openzeppelin', site.user(), {
    to: counter,
    data: countCall('increment'),
  })
  return { chainId: CHAIN_ID, to, data, authorizations: [] }
}

describe('an event of the service', () => {
  test('that ends a request lets nothing of its users be kept', async () => {
    const { transaction } = await send(
      { content: await content(), payment: SPONSORED, taskId: undefined, caller: 'shop' },
      settings(),
      world,
    )
    const payers = () => [...world.values.keys()].filter((key) => key.startsWith('payer:'))
    expect(payers()).toHaveLength(1)
    const event = (status: string) => ({
      type: 'transaction_update',
      payload: { id: transaction.id, relayer_id: 'main', status },
    })
    await until(
      async () => {
        await site.anvil.rpc('evm_mine')
        const path = `/relayers/main/transactions/${transaction.id}`
        return (await site.service.api<{ status: string }>('GET', path)).body.data.status
      },
      (status) => status === 'confirmed',
    )
    await noteEvent(event('mined'), settings(), world)
    expect(payers()).toHaveLength(1)
    await noteEvent(event('confirmed'), settings(), world)
    // What a block included is remembered for a minute at most, for nodes that are behind.
    expect(JSON.stringify(payers().map((key) => world.values.get(key)))).not.toContain('slots')
  })

  test('of another transaction, relayer or kind changes nothing', async () => {
    const { body } = await site.service.api<{ id: string }>('POST', '/relayers/main/transactions', {
      to: site.user().address,
      value: '0',
      speed: 'fast',
    })
    const payload = { id: body.data.id, relayer_id: 'main', status: 'confirmed' }
    for (const event of [
      { type: 'transaction_update', payload },
      { type: 'transaction_update', payload: { ...payload, relayer_id: 'other' } },
      { type: 'transaction_update', payload: { ...payload, id: '00000000-0000-4000-8000-000000000000' } },
      { type: 'alert', payload: {} },
      'nothing',
    ]) {
      const before = JSON.stringify([...world.values])
      await noteEvent(event, settings(), world)
      expect(JSON.stringify([...world.values])).toBe(before)
    }
  })
})
