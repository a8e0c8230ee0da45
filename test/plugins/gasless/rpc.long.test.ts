import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { batchBy, forwardBy } from './sign.ts'
import {
  CHAIN_ID,
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  type Reply,
  startGaslessSite,
} from './site.ts'

const COLLECTOR = '0x00000000000000000000000000000000000000fe'
const ZERO = '0x0000000000000000000000000000000000000000'

let site: GaslessSite

beforeAll(async () => {
  site = await startGaslessSite({
    entries: (known) => [
      pluginEntry('gasless', { networks: [networkOf(known)], ...GENEROUS, fee_collector: COLLECTOR }),
      pluginEntry(
        'open',
        {
          networks: [networkOf(known)],
          limits: [
            { per: 'user', window_seconds: 86_400, requests: 2 },
            { per: 'open', window_seconds: 86_400, requests: 4 },
          ],
        },
        { open_mount: true },
      ),
      pluginEntry('priced', {
        networks: [networkOf(known)],
        limits: [{ per: 'key', window_seconds: 86_400, gas: 200_000 }],
      }),
      pluginEntry('patient', { networks: [networkOf(known)], ...GENEROUS, wait_for: 'confirmed' }),
      pluginEntry(
        'quota',
        { networks: [networkOf(known)], ...GENEROUS },
        { rules: { user_limits: [{ per: 'day', count: 1 }] } },
      ),
    ],
  })
}, 60_000)
afterAll(() => site.stop())

interface Status {
  readonly id: Hex
  readonly chainId: string
  readonly createdAt: number
  readonly status: number
  readonly hash?: string
  readonly receipt?: { readonly status: string }
}

const forward = (user = site.user()) =>
  forwardBy(site, 'openzeppelin', user, {
    to: site.forwarders.openzeppelin.counter,
    data: countCall('increment'),
  })
const errorOf = async (method: string, params: unknown, mount?: string) =>
  (await site.call<unknown>(method, params, mount)).error
const statusOf = async (id: Hex, mount?: string) =>
  (await site.call<Status>('relayer_getStatus', { id }, mount)).result as Status

describe('relayer_*', () => {
  test('tells its chains in both dialects, and who gets fees, which is not the account that sends', async () => {
    const all = { [CHAIN_ID]: { feeCollector: COLLECTOR, tokens: [] } }
    for (const params of [[], undefined, [String(CHAIN_ID)], [[CHAIN_ID]]])
      expect((await site.call('relayer_getCapabilities', params)).result).toEqual(all)
    expect((await site.call('relayer_getCapabilities', ['1'])).result).toEqual({})
  })

  test('tells fees in the coin of the chain, of which users pay none, and in no token', async () => {
    const asked = { chainId: String(CHAIN_ID), token: ZERO }
    const data = (await site.call<Record<string, unknown>>('relayer_getFeeData', asked)).result
    expect(data).toEqual({
      chainId: String(CHAIN_ID),
      token: { address: ZERO, decimals: 18 },
      rate: 1,
      minFee: '0',
      gasPrice: expect.stringMatching(/^0x[0-9a-f]+$/),
      expiry: expect.any(Number),
    })
    const quote = (
      await site.call<Record<string, unknown>>('relayer_getFeeQuote', [{ ...asked, gas: '100000' }])
    ).result
    expect(quote).toMatchObject({ fee: '0', token: { address: ZERO, decimals: 18 } })
    for (const method of ['relayer_getFeeData', 'relayer_getFeeQuote'])
      expect(await errorOf(method, { ...asked, token: COLLECTOR })).toMatchObject({ code: 4202 })
  })

  test('refuses what it does not have by the codes of the draft', async () => {
    const content = await forward()
    expect(
      await errorOf('relayer_sendTransaction', {
        ...content,
        payment: { type: 'token', address: COLLECTOR },
      }),
    ).toMatchObject({ code: 4202 })
    expect(await errorOf('relayer_sendTransaction', { ...content, chainId: '1' })).toMatchObject({
      code: 4206,
    })
    expect(await errorOf('relayer_sendTransaction', { ...content, taskId: '0x12' })).toMatchObject({
      code: 4213,
    })
    expect(
      await errorOf('relayer_sendTransaction', { ...content, data: `0x${'00'.repeat(70_000)}` }),
    ).toMatchObject({ code: 4207 })
    expect(await errorOf('relayer_sendTransaction', { ...content, to: 'nobody' })).toMatchObject({
      code: -32602,
    })
    expect(await errorOf('relayer_sendTransaction', 'nothing')).toMatchObject({ code: -32602 })
    expect(await errorOf('relayer_getStatus', { id: `0x${'0'.repeat(64)}` })).toMatchObject({ code: 4208 })
    expect(await errorOf('relayer_getStatus', { id: 'x' })).toMatchObject({ code: -32602 })
    expect(await errorOf('relayer_sendTransactionMultichain', [content])).toMatchObject({ code: 4212 })
    for (const method of ['relayer_estimate7710Transaction', 'gelato_getBalance', 'toString', '__proto__'])
      expect(await errorOf(method, {})).toMatchObject({ code: -32601 })
  })

  test('accepts the parameters of the draft and of Gelato’s client, with and without a list around them', async () => {
    const one = await forward()
    const draft = { ...one, chainId: CHAIN_ID, payment: { type: 'sponsored' }, authorizationList: [] }
    const first = (await site.call('relayer_sendTransaction', [draft])).result
    const gelato = { ...one, gas: '999999999', skipSimulation: true, authorizationList: undefined }
    expect((await site.call('relayer_sendTransaction', gelato)).result).toBe(first)
    expect(
      (
        await site.call('relayer_sendTransaction', {
          ...one,
          data: one.data.toUpperCase().replace('0X', '0x'),
        })
      ).result,
    ).toBe(first)
  })

  test('answers requests in one body in order, and what is no request with an error', async () => {
    const post = async (body: unknown) => {
      const response = await fetch(`${site.service.url}/gasless/rpc`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as unknown }
    }
    const request = (id: number, method: string) => ({ jsonrpc: '2.0', id, method, params: [] })
    const { body } = await post([request(1, 'relayer_getCapabilities'), request(2, 'none'), 3])
    expect(body).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
    ])
    expect((await post([])).body).toMatchObject({ error: { code: -32600 } })
    expect(await post({ method: 'relayer_getCapabilities' })).toMatchObject({
      status: 200,
      body: { error: { code: -32600 } },
    })
  })
})

describe('a send', () => {
  test('of the same content 50 times at once is one transaction with one id', async () => {
    const user = site.user()
    const content = await batchBy(site, 'gelato', user, [{ to: site.stranger, data: countCall('increment') }])
    const ids = await Promise.all(Array.from({ length: 50 }, () => site.send(content)))
    expect(new Set(ids).size).toBe(1)
    const [id] = ids as [Hex]
    await until(
      () => statusOf(id),
      ({ status }) => status === 200,
    )
    expect(await site.countOf(site.stranger, user.address)).toBe(1n)
    const found = await site.service.api<unknown[]>('GET', `/transactions?relayer_id=main&reference=${id}`)
    expect(found.body.data).toHaveLength(1)
    // Another entry of the plugin has names of its own, and the nonce is used.
    expect(await errorOf('relayer_sendTransaction', content, 'patient')).toMatchObject({ code: 4210 })
  })

  test('is found by the name that the application gave it, which names nothing else', async () => {
    const taskId = `0x${'ab'.repeat(32)}` as const
    const [one, other] = [await forward(), await forward()]
    expect((await site.call('relayer_sendTransaction', { ...one, taskId })).result).toBe(taskId)
    expect((await site.call('relayer_sendTransaction', { ...one, taskId })).result).toBe(taskId)
    expect(await errorOf('relayer_sendTransaction', { ...other, taskId })).toMatchObject({ code: 4214 })
    const status = await until(
      () => statusOf(taskId),
      (seen) => seen.status === 200,
    )
    expect(status.id).toBe(taskId)
    expect(await errorOf('relayer_getStatus', { id: taskId }, 'patient')).toMatchObject({ code: 4208 })
  })

  test('that waits for its block answers with it, and with its id when the time is over', async () => {
    const { result } = await site.call<Status>('relayer_sendTransactionSync', {
      ...(await forward()),
      timeout: 20_000,
    })
    expect(result).toMatchObject({ status: 200, chainId: String(CHAIN_ID), receipt: { status: '0x1' } })
    const error = await errorOf(
      'relayer_sendTransactionSync',
      { ...(await forward()), timeout: 300 },
      'patient',
    )
    expect(error).toMatchObject({ code: -32070, data: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    const id = error?.data as Hex
    await until(
      async () => {
        await site.anvil.rpc('evm_mine')
        return statusOf(id, 'patient')
      },
      ({ status }) => status === 200,
    )
    // Only Gelato's own method knows a status for what is final.
    expect((await site.call<Status>('gelato_getStatus', { id }, 'patient')).result?.status).toBe(210)
  })

  test('of several requests sends all or, where one cannot be sent, none', async () => {
    const [one, two] = [await forward(), await forward()]
    const failing = await forwardBy(site, 'openzeppelin', site.user(), {
      to: site.forwarders.openzeppelin.counter,
      data: countCall('fail'),
    })
    expect(await errorOf('relayer_sendTransactionMultichain', [one, failing])).toMatchObject({ code: 4211 })
    const ids = (await site.call<Hex[]>('relayer_sendTransactionMultichain', [one, two])).result as Hex[]
    expect(ids).toHaveLength(2)
    expect(await site.send(one)).toBe(ids[0])
    expect(
      await errorOf('relayer_sendTransactionMultichain', [one, { ...two, payment: { type: 'token' } }]),
    ).toMatchObject({ code: 4202 })
  })

  test('never has the data of an error that looks like an id', async () => {
    const failing = await batchBy(site, 'gelato', site.user(), [
      { to: site.stranger, data: countCall('failWithWord') },
    ])
    const error = await errorOf('relayer_sendTransaction', failing)
    expect(error).toMatchObject({ code: 4211, data: { revert: `0x${'f'.repeat(64)}` } })
  })

  test('tells the data of a revert', async () => {
    const failing = await batchBy(site, 'gelato', site.user(), [
      { to: site.stranger, data: countCall('fail') },
    ])
    expect(await errorOf('relayer_sendTransaction', failing)).toMatchObject({
      data: expect.stringMatching(/^0x08c379a0/),
    })
  })

  test('is found by its id and its user, and has the gas that was checked', async () => {
    const user = site.user()
    const id = await site.send(await forward(user))
    const query = new URLSearchParams({
      relayer_id: 'main',
      reference: id,
      user_id: `root/${user.address.toLowerCase()}`,
    })
    const [record] = (await site.service.api<Record<string, unknown>[]>('GET', `/transactions?${query}`)).body
      .data
    expect(record).toMatchObject({ reference: id, value: '0' })
    expect(Number(record?.gas_limit)).toBeLessThanOrEqual(1_000_000)
  })
})

describe('limits', () => {
  const open = async (content: object): Promise<Reply<Hex>> => {
    const response = await fetch(`${site.service.url}/open/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'relayer_sendTransaction', params: content }),
    })
    return (await response.json()) as Reply<Hex>
  }

  test('of users and strangers hold, and a repeated send counts once', async () => {
    const user = site.user()
    for (const [index, code] of [undefined, undefined, 4203].entries()) {
      const content = await forward(user)
      const { result, error } = await open(content)
      expect([index, error?.code]).toEqual([index, code])
      if (result === undefined) break
      expect((await open(content)).result).toBe(result)
      await until(
        () => statusOf(result, 'open'),
        ({ status }) => status === 200,
      )
    }
    // Strangers have four in all, whoever they are; what the user was refused is none of them.
    const codes = []
    for (let index = 0; index < 3; index += 1) codes.push((await open(await forward())).error?.code)
    expect(codes).toEqual([undefined, undefined, 4203])
  })

  test('of gas count what was signed', async () => {
    expect(await errorOf('relayer_sendTransaction', await forward(), 'priced')).toMatchObject({ code: 4203 })
  })

  test('of users in the rules of the key count for each user of each application', async () => {
    const user = site.user()
    const id = (await site.call('relayer_sendTransaction', await forward(user), 'quota')).result as Hex
    await until(
      () => statusOf(id, 'quota'),
      ({ status }) => status === 200,
    )
    expect(await errorOf('relayer_sendTransaction', await forward(user), 'quota')).toMatchObject({
      code: 4203,
    })
    expect(await errorOf('relayer_sendTransaction', await forward(), 'quota')).toBeUndefined()
  })

  test('need an API key where the path is not open', async () => {
    const response = await fetch(`${site.service.url}/gasless/rpc`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(response.status).toBe(401)
  })
})
