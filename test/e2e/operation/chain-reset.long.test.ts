import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import {
  type Answer,
  DEV_ADDRESSES,
  RECEIVER,
  type Service,
  startService,
  type Transaction,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Reset = Schemas['NetworkReset']
type Diagnosis = Schemas['Diagnosis']

let anvil: Anvil
let service: Service

/** Block 0 of anvil differs by its time only. */
const start = (port: string, timestamp: string) =>
  startAnvil({ args: ['--port', port, '--timestamp', timestamp] })

beforeAll(async () => {
  anvil = await start('0', '1700000000')
  service = await startService({ rpcUrls: [anvil.url] })
})
afterAll(async () => {
  await service.stop()
  await anvil.stop()
})

const send = (value: number) =>
  service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value, gas_limit: 21000 })
const read = async (id: string) => (await service.api('GET', `/relayers/main/transactions/${id}`)).body.data
const reach = (id: string, status: string) =>
  until(
    () => read(id),
    (seen) => seen.status === status,
  )
/** Puts blocks on top of the one that includes it. */
const confirm = async (id: string) => {
  await reach(id, 'mined')
  await anvil.rpc('anvil_mine', ['0x10'])
  return reach(id, 'confirmed')
}
const reset = (): Promise<Answer<Reset>> => service.api('POST', '/networks/evm:anvil/reset')
const accepted = ({ status, body }: Answer<Transaction>) => {
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data
}

describe('a local node that was restarted from genesis', () => {
  let confirmed: Transaction
  let inPool: Transaction
  let unsigned: Transaction

  test('without a new chain there is nothing to reset', async () => {
    confirmed = await confirm(accepted(await send(1)).id)
    const { status, body } = await reset()
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'chain_not_reset' })
  })

  test('signs nothing for the new chain, and the diagnosis says what to do', async () => {
    await anvil.rpc('evm_setAutomine', [false])
    inPool = await reach(accepted(await send(2)).id, 'submitted')
    await anvil.stop()
    anvil = await start(new URL(anvil.url).port, '1700009999')
    unsigned = accepted(await send(3))
    await until(
      async () => (await service.api<Schemas['Relayer']>('GET', '/relayers/main')).body.data,
      (relayer) => relayer.system_disabled,
    )
    for (const { id } of [inPool, unsigned]) {
      const { body } = await service.api<Diagnosis>('GET', `/relayers/main/transactions/${id}/diagnosis`)
      expect(body.data.findings[0]).toMatchObject({
        code: 'chain_reset',
        message: expect.stringContaining('relayer reset anvil'),
      })
      expect(body.data.next_action.action).toBe('none')
    }
    expect((await read(unsigned.id)).nonce).toBeUndefined()
    expect(await anvil.rpc('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
  })

  test('a disabled relayer still cancels an unsigned transaction', async () => {
    const { status, body } = await service.api('DELETE', `/relayers/main/transactions/${unsigned.id}`)
    expect({ status, state: body.data?.status }).toEqual({ status: 200, state: 'canceled' })
    const signed = await service.api('DELETE', `/relayers/main/transactions/${inPool.id}`)
    expect({ status: signed.status, code: signed.body.code }).toEqual({
      status: 400,
      code: 'relayer_disabled',
    })
  })

  test('the reset ends what was open, and the relayer starts over with nonce 0', async () => {
    const { status, body } = await reset()
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: { network_id: 'evm:anvil', relayer_ids: ['main', 'other'], ended_transactions: 1 },
    })
    expect(await read(inPool.id)).toMatchObject({
      status: 'failed',
      status_reason: expect.stringContaining('declared reset'),
    })
    expect((await read(confirmed.id)).status).toBe('confirmed')
    // The content is that of the first transaction of the old chain, so the signed bytes are the same if the price is.
    const again = await confirm(accepted(await send(1)).id)
    expect(Number(again.nonce)).toBe(0)
    expect(await anvil.rpc('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest'])).toBe('0x1')
    const byNonce = await service.api('GET', '/relayers/main/transactions/by-nonce/0')
    expect(byNonce.body.data.id).toBe(again.id)
  })
})
