import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { createFunded, onAnvil, signersWith } from './site.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ ...signersWith('a', 'b') })
  await createFunded(story.service, story.anvil, onAnvil('a', { id: 'one' }))
})
afterAll(() => story.stop())

const status = (id = 'one') => story.service.api<Record<string, unknown>>('GET', `/relayers/${id}/status`)
const balance = (id = 'one') => story.service.api<Record<string, unknown>>('GET', `/relayers/${id}/balance`)

describe('the state of a relayer on EVM', () => {
  test('has the balance and the next nonce before it did anything', async () => {
    const { status: code, body } = await status()
    expect(code).toBe(200)
    // The head is there as soon as a node has told one.
    const { network_head: _head, ...state } = body.data
    expect(state).toEqual({
      network_type: 'evm',
      balance: '100000000000000000000',
      nonce: '0',
      pending_transactions_count: 0,
      system_disabled: false,
      paused: false,
    })
  })

  test('counts open transactions, and knows what was confirmed', async () => {
    const send = async () =>
      (await story.service.api('POST', '/relayers/one/transactions', { to: RECEIVER, value: 1 })).body.data
    const read = async (id: string) =>
      (await story.service.api('GET', `/relayers/one/transactions/${id}`)).body.data
    const [first, second] = [await send(), await send()]
    expect((await status()).body.data).toMatchObject({ pending_transactions_count: 2 })
    await until(
      async () => {
        await story.mine()
        return [await read(first.id), await read(second.id)]
      },
      (both) => both.every((one) => one.status === 'confirmed'),
    )
    const last = [await read(first.id), await read(second.id)]
      .map((one) => one.confirmed_at ?? '')
      .sort()
      .at(-1)
    expect((await status()).body.data).toMatchObject({
      nonce: '2',
      pending_transactions_count: 0,
      last_confirmed_transaction_timestamp: last,
    })
  })

  test('is reported while it is paused, and follows what others do with the account', async () => {
    await story.service.api('PATCH', '/relayers/one', { paused: true })
    const { address } = (await story.service.api<{ address: string }>('GET', '/relayers/one')).body.data
    await story.anvil.rpc('anvil_setNonce', [address, '0x9'])
    await story.anvil.rpc('anvil_setBalance', [address, `0x${(2n ** 128n - 1n).toString(16)}`])
    await story.mine()
    expect((await status()).body.data).toMatchObject({
      paused: true,
      nonce: '9',
      balance: '340282366920938463463374607431768211455',
    })
  })

  test('has its balance as an exact integer', async () => {
    const { status: code, body } = await balance()
    expect([code, body.data]).toEqual([200, { balance: 2n ** 128n - 1n, unit: 'wei' }])
  })
})

describe('when no endpoint answers', () => {
  beforeAll(async () => {
    const urls = [{ url: 'http://127.0.0.1:9' }]
    await createFunded(story.service, story.anvil, onAnvil('b', { id: 'lost', custom_rpc_urls: urls }))
  })

  test('the state says so, and tells the rest', async () => {
    const { status: code, body } = await status('lost')
    expect(code).toBe(200)
    expect(body.data).toEqual({
      network_type: 'evm',
      pending_transactions_count: 0,
      system_disabled: false,
      paused: false,
    })
    expect(body.metadata?.logs.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The balance is not known: .*\.$/),
      expect.stringMatching(/^The nonce is not known: .*\.$/),
    ])
  })

  test('the balance is a failure of ours', async () => {
    const { status: code, body } = await balance('lost')
    expect([code, body.code, body.message]).toEqual([500, 'network_unavailable', 'Internal Server Error'])
  })
})
