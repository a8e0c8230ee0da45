import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { DEV_ADDRESSES, RECEIVER, type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  service = await startService({ rpcUrls: [anvil.url] })
})

afterAll(async () => {
  await service.stop()
  await anvil.stop()
})

describe('send', () => {
  test('a transfer goes from pending to confirmed and pays exactly what was asked', async () => {
    const before = BigInt(await anvil.rpc<string>('eth_getBalance', [RECEIVER, 'latest']))
    const sent = await service.api(
      'POST',
      '/relayers/main/transactions',
      `{"to":"${RECEIVER}","value":1000000000000000001}`,
    )
    expect(sent).toMatchObject({
      status: 200,
      body: { success: true, data: { status: 'pending', from: DEV_ADDRESSES[0] } },
    })
    const path = `/relayers/main/transactions/${sent.body.data.id}`
    const final = await until(
      () => service.api('GET', path),
      ({ body }) => body.data.status === 'confirmed',
    )
    expect(final.body.data).toMatchObject({
      value: '1000000000000000001',
      nonce: 0,
      attempts: [{ outcome: 'mined' }],
    })
    const after = BigInt(await anvil.rpc<string>('eth_getBalance', [RECEIVER, 'latest']))
    expect(after - before).toBe(1000000000000000001n)
  })
})
