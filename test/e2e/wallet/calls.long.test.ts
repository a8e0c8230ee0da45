import { recoverTransactionAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { countOf, issue, post, request } from './wallet-site.ts'

const [ACCOUNT, ANOTHER] = DEV_ADDRESSES
const PAYMENT = { to: RECEIVER, value: '0x1' }
const SEND = 'eth_sendTransaction'
const SCOPES = ['rpc', 'transactions:write', 'transactions:read', 'sign'] as const
const BUNDLE = {
  version: '2.0.0',
  chainId: '0x7a69',
  atomicRequired: false,
  calls: [PAYMENT, { ...PAYMENT, value: '0x2' }],
}
/** Its code reverts always. */
const REVERTING = '0x00000000000000000000000000000000000000ff'

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ policies: { wallet_rpc: true } })
  await story.anvil.rpc('anvil_setCode', [REVERTING, '0x60006000fd'])
}, 60_000)
afterAll(() => story.stop())

const call = (method: string, ...params: unknown[]) => ({ id: 1, method, params })
const newest = async () => {
  const { body } = await story.service.api<Record<string, unknown>[]>('GET', '/relayers/main/transactions')
  return body.data[0]
}

/** Expects that a body is refused, and that nothing was accepted. */
async function expectRefused(body: object, error: object, options = {}) {
  const before = await countOf(story)
  expect(await post(story.service, body, options)).toMatchObject({ error })
  expect(await countOf(story)).toBe(before)
}

describe('eth_sendTransaction', () => {
  test('is a transaction of the relayer, whose first hash is the answer', async () => {
    const sent = {
      from: ACCOUNT.toLowerCase(),
      ...PAYMENT,
      data: '0xab',
      input: '0xab',
      gas: '0x7530',
      maxFeePerGas: '0x77359400',
      maxPriorityFeePerGas: '0x3b9aca00',
      chainId: '0x7a69',
      type: '0x2',
      nonce: null,
      accessList: [],
    }
    const hash = await request(story.service, SEND, sent)
    expect(await newest()).toMatchObject({
      hash,
      to: RECEIVER,
      value: '1',
      data: '0xab',
      gas_limit: 30_000,
      max_fee_per_gas: '2000000000',
    })
    const { body } = await story.service.api<object[]>('GET', '/audit?limit=1')
    expect(body.data[0]).toMatchObject({ action: 'sendTransaction', actor: 'root' })
  })

  test.each([
    [{ ...PAYMENT, nonce: '0x700' }, -32602, 'nonce: '],
    [{ ...PAYMENT, accessList: [{}] }, -32602, 'accessList: not supported'],
    [{ ...PAYMENT, speed: 'fast' }, -32602, 'speed: not supported'],
    [{ ...PAYMENT, type: '0x3' }, -32602, 'type: 0x0 or 0x2'],
    [{ ...PAYMENT, value: '1' }, -32602, 'value: a quantity'],
    [{ ...PAYMENT, value: `0x1${'0'.repeat(32)}` }, -32602, 'value: '],
    [{ ...PAYMENT, value: `0x${'f'.repeat(1000)}` }, -32602, 'value: a quantity'],
    [{ ...PAYMENT, gas: '0xffffffffffffffffff' }, -32602, 'gas: '],
    [{ ...PAYMENT, gasPrice: `0x1${'0'.repeat(40)}` }, -32602, 'gasPrice: '],
    [{ ...PAYMENT, to: '0x12' }, -32602, 'to: an address'],
    [{ ...PAYMENT, data: '0x1' }, -32602, 'data: bytes'],
    [{ ...PAYMENT, data: '0x11', input: '0x12' }, -32602, 'input: the same bytes'],
    [{ ...PAYMENT, from: ANOTHER }, 4100, 'from: the account of relayer main'],
    [{ ...PAYMENT, chainId: '0x1' }, 4901, 'chainId: relayer main is on chain 31337'],
    [{ to: REVERTING }, 3, ''],
    [{ to: RECEIVER, value: `0x${(2n ** 120n).toString(16)}` }, -32003, ''],
    [undefined, -32602, 'transaction: an object'],
  ])('%j is refused with %s, and nothing is accepted', async (transaction, code, beginning) => {
    const params = transaction === undefined ? [] : [transaction]
    const message = expect.stringMatching(new RegExp(`^${beginning}`))
    await expectRefused({ id: 1, method: SEND, params }, { code, message })
  })

  test('parameters come by place', async () => {
    await expectRefused({ id: 1, method: SEND, params: PAYMENT }, { code: -32602 })
  })

  test('a batch keeps the order, and a refused call changes nothing for the others', async () => {
    await story.settle()
    const replies = await post<{ id: string; result?: string; error?: object }[]>(story.service, [
      { id: 'a', method: SEND, params: [PAYMENT] },
      { id: 'height', method: 'eth_chainId' },
      { id: 'bad', method: SEND, params: [{ nonce: '0x1' }] },
      { id: 'b', method: SEND, params: [PAYMENT] },
      { id: 'none', method: 'eth_newFilter', params: [] },
    ])
    expect(replies).toMatchObject([
      { id: 'a', result: expect.stringMatching(/^0x/) },
      { id: 'height', result: '0x7a69' },
      { id: 'bad', error: { code: -32602 } },
      { id: 'b', result: expect.stringMatching(/^0x/) },
      { id: 'none', error: { code: -32601 } },
    ])
    const [first, , , second] = await Promise.all(
      replies.map(async ({ result }) => {
        if (result === undefined || result === '0x7a69') return
        const { body } = await story.service.api<{ nonce: number }[]>('GET', `/transactions?hash=${result}`)
        return body.data[0]?.nonce
      }),
    )
    expect(Number(second) - Number(first)).toBe(1)
  })

  test('what waits for an approval says so immediately, with its id', async () => {
    const secret = await issue(story.service, {
      scopes: [...SCOPES],
      rules: { require_approval: {} },
    })
    const { error } = await post(story.service, call(SEND, PAYMENT), { secret })
    const { id } = (await newest()) ?? {}
    expect(error).toMatchObject({
      code: -32002,
      message: expect.stringContaining('waits for an approval'),
      data: { transactionId: id, status: 'pending' },
    })
    const canceled = await story.service.api('DELETE', `/relayers/main/transactions/${id}`)
    expect(canceled.body.data.status).toBe('canceled')
  })

  test('a rule of the key refuses', async () => {
    const secret = await issue(story.service, {
      scopes: [...SCOPES],
      rules: { limits: [{ per: 'day', value: '0' }] },
    })
    const error = { code: -32003, data: { code: 'rule_violated' } }
    await expectRefused(call(SEND, PAYMENT), error, { secret })
  })
})

test.each([
  [SEND, [PAYMENT], 'transactions:write'],
  ['wallet_sendCalls', [BUNDLE], 'transactions:write'],
  ['eth_sendRawTransaction', ['0x00'], 'transactions:write'],
  ['wallet_getCallsStatus', ['0x00'], 'transactions:read'],
  ['personal_sign', ['0x61', ACCOUNT], 'sign'],
  ['eth_signTypedData_v4', [ACCOUNT, {}], 'sign'],
  ['eth_signTransaction', [{ ...PAYMENT, nonce: '0x0', gas: '0x5208', gasPrice: '0x1' }], 'sign'],
] as const)('%s needs a scope of its own, besides that of rpc', async (method, params, scope) => {
  const error = { code: 4100, message: expect.stringContaining(`lacks the scope ${scope}`) }
  const others = SCOPES.filter((other) => other !== scope)
  const secret = await issue(story.service, { scopes: others })
  await expectRefused(call(method, ...params), error, { secret })
})

test('a key that does not see the relayer gets 404', async () => {
  const secret = await issue(story.service, { scopes: [...SCOPES], relayers: ['other'] })
  expect(await post(story.service, call('eth_accounts'), { secret })).toMatchObject({
    code: 'relayer_not_found',
  })
})

test('without the policy the methods are refused, and the error names it', async () => {
  const reply = await post(story.service, call(SEND, PAYMENT), { relayer: 'other' })
  expect(reply).toMatchObject({ error: { code: -32601, description: expect.stringContaining('wallet_rpc') } })
})

describe('a transaction that nothing signs in time', () => {
  test('is accepted, the error has its id, and what comes after it in the batch is not begun', async () => {
    // Half of the time is for the wait: enough to sign the first one in a service that has just started.
    const env = { REQUEST_TIMEOUT_SECONDS: '4', RELAYER_MAX_IN_FLIGHT: '1' }
    const slow = await startScenario({ policies: { wallet_rpc: true }, env })
    try {
      const [first, second, third] = await post<unknown[]>(
        slow.service,
        [1, 2, 3].map((id) => ({ ...call(SEND, PAYMENT), id })),
      )
      expect(first).toMatchObject({ id: 1, result: expect.stringMatching(/^0x/) })
      const { body } = await slow.service.api<{ id: string; status: string }[]>(
        'GET',
        '/relayers/main/transactions',
      )
      expect(second).toMatchObject({
        id: 2,
        error: { code: -32002, data: { transactionId: body.data[0]?.id, status: 'pending' } },
      })
      expect(third).toMatchObject({ id: 3, error: { code: -32005 } })
      expect(await countOf(slow)).toBe(2)
    } finally {
      await slow.stop()
    }
  })
})

describe('signing', () => {
  test('eth_sign is refused, and so are bytes that are no text', async () => {
    await expectRefused(call('eth_sign', ACCOUNT, `0x${'11'.repeat(32)}`), { code: 4200 })
    await expectRefused(call('personal_sign', '0xff', ACCOUNT), { code: -32602 })
    await expectRefused(call('personal_sign', '0x61', ANOTHER), { code: 4100 })
    await expectRefused(call('personal_sign', '0x61'), { code: -32602 })
    await expectRefused(call('eth_signTypedData_v4', ACCOUNT, '{'), { code: -32602 })
    await expectRefused(call('eth_signTypedData_v4', ACCOUNT, { types: {} }), { code: -32602 })
  })

  test('a batch of typed data has as many values as a single document', async () => {
    const values = Array.from({ length: 9_000 }, () => 0)
    const document = JSON.stringify({
      domain: { chainId: 31_337 },
      types: { Order: [{ name: 'values', type: 'uint8[]' }] },
      primaryType: 'Order',
      message: { values },
    })
    const batch = Array.from({ length: 50 }, (_, id) => ({
      ...call('eth_signTypedData_v4', ACCOUNT, document),
      id,
    }))
    const answers = (await post(story.service, batch)) as unknown as { result?: string; error?: object }[]
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(2)
    expect(answers.filter(({ error }) => error !== undefined)).toHaveLength(48)
    expect(answers.at(-1)?.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('those of all calls of the batch together'),
    })
  })

  test('eth_signTransaction signs what has its nonce, gas and price', async () => {
    const unsigned = { ...PAYMENT, nonce: '0x63', gas: '0x5208', gasPrice: '0x77359400' }
    const signed = (await request(story.service, 'eth_signTransaction', unsigned)) as `0x02${string}`
    expect(await recoverTransactionAddress({ serializedTransaction: signed })).toBe(ACCOUNT)
    const { nonce: _, ...numberless } = unsigned
    await expectRefused(call('eth_signTransaction', numberless), { code: -32602 })
    // Nothing of it is stored, so its bytes are not the service's to send.
    await expectRefused(call('eth_sendRawTransaction', signed), { code: -32003 })
  })
})

test('eth_sendRawTransaction takes bytes of its own transactions', async () => {
  const hash = await request(story.service, SEND, PAYMENT)
  await story.reach(String((await newest())?.id), 'submitted')
  const raw = await story.anvil.rpc('eth_getRawTransactionByHash', [hash])
  const before = await countOf(story)
  expect(await request(story.service, 'eth_sendRawTransaction', raw)).toBe(hash)
  expect(await countOf(story)).toBe(before)
})

describe('wallet_sendCalls', () => {
  test('accepts all calls or none', async () => {
    const bad = { ...BUNDLE, calls: [PAYMENT, { to: REVERTING }] }
    await expectRefused(call('wallet_sendCalls', bad), {
      code: 3,
      message: expect.stringMatching(/^calls\.1/),
    })
    const many = { ...BUNDLE, calls: Array(101).fill(PAYMENT) }
    await expectRefused(call('wallet_sendCalls', many), { code: 5740 })
    await expectRefused(call('wallet_sendCalls', { ...BUNDLE, atomicRequired: true }), { code: 5760 })
    await expectRefused(call('wallet_sendCalls', { ...BUNDLE, chainId: '0x1' }), { code: 5710 })
    await expectRefused(call('wallet_sendCalls', { ...BUNDLE, capabilities: { paymaster: {} } }), {
      code: 5700,
    })
  })

  test('the id of the caller makes it repeatable, and belongs to one bundle', async () => {
    const named = { ...BUNDLE, id: 'payroll-1' }
    expect(await request(story.service, 'wallet_sendCalls', named)).toEqual({ id: 'payroll-1' })
    const before = await countOf(story)
    expect(await request(story.service, 'wallet_sendCalls', named)).toEqual({ id: 'payroll-1' })
    expect(await countOf(story)).toBe(before)
    for (const calls of [[PAYMENT], [...BUNDLE.calls, PAYMENT]])
      await expectRefused(call('wallet_sendCalls', { ...named, calls }), { code: 5720 })
    await story.settle()
    expect(await request(story.service, 'wallet_getCallsStatus', 'payroll-1')).toMatchObject({
      status: 200,
      chainId: '0x7a69',
      receipts: [{ status: '0x1' }, { status: '0x1' }],
    })
  })

  test('a bundle that was never sent is unknown', async () => {
    for (const id of ['payroll-2', `0x${'ab'.repeat(16)}`])
      await expectRefused(call('wallet_getCallsStatus', id), { code: 5730 })
  })
})

test('without transactions:read, the hash of an attempt tells nothing of the others', async () => {
  const hash = await request(story.service, SEND, PAYMENT)
  const id = String((await newest())?.id)
  await story.reach(id, 'submitted')
  await story.service.api('PUT', `/relayers/main/transactions/${id}`, {
    to: RECEIVER,
    value: '3',
    speed: 'fast',
  })
  await story.settle()
  const secret = await issue(story.service, { scopes: ['rpc'] })
  const read = call('eth_getTransactionReceipt', hash)
  expect(await post(story.service, read, { secret })).toMatchObject({ result: null })
  expect(await post(story.service, read)).toMatchObject({ result: { status: '0x1' } })
})
