import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outcomeOf } from '../../support/limited-key.ts'
import { checkWebhook, type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, sendBatch, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Code at these addresses takes every call. */
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const POOL = '0x00000000000000000000000000000000000000AA'
/** More than a double can hold exactly. */
const AMOUNT = String(2n ** 70n + 1n)
const ABI = parseAbi([
  'function pay(address to, uint256 amount) returns (bool)',
  'function pay(address to)',
  'function sweep((address token, uint256[] ids)[] list, string memo)',
  'event Paid(address indexed to, uint256 amount)',
])
const PAY = encodeFunctionData({ abi: ABI, functionName: 'pay', args: [RECEIVER, BigInt(AMOUNT)] })

interface Decoded {
  readonly function: string
  readonly contract_name: string | null
  readonly source: string
  readonly args: readonly { readonly name: string | null; readonly type: string; readonly value: unknown }[]
}

type WithCall = Transaction & { readonly decoded_call?: Decoded }

const PAY_DECODED: Decoded = {
  function: 'pay(address,uint256)',
  contract_name: 'Pay Desk',
  source: 'registered',
  args: [
    { name: 'to', type: 'address', value: RECEIVER },
    { name: 'amount', type: 'uint256', value: AMOUNT },
  ],
}

let receiver: Receiver
let story: Scenario

beforeAll(async () => {
  receiver = await startReceiver()
  story = await startScenario({ notificationUrl: receiver.url })
  for (const address of [TOKEN, POOL]) await story.anvil.rpc('anvil_setCode', [address, '0x00'])
}, 60_000)
afterAll(async () => {
  await story.stop()
  await receiver.stop()
})

const api = <Data = WithCall>(
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => story.service.api<Data>(method, `/relayers/${path}`, body, headers)
const register = (address: string, body: object, relayer = 'main') =>
  api<{ name?: string; abi: object[] }>('PUT', `${relayer}/abis/${address}`, body)
const byName = (call: object, more: object = {}) => ({ to: TOKEN, value: 0, call, ...more })

describe('an ABI', () => {
  test('is registered, shown, listed, replaced and deleted, and the audit log has each change', async () => {
    const spelled = POOL.toLowerCase()
    const first = await register(spelled, { abi: ABI, name: 'Pool' })
    expect(first.body.data).toMatchObject({
      address: POOL,
      name: 'Pool',
      function_count: 3,
      abi: [{ name: 'pay' }, {}, {}, {}],
    })
    const again = await register(POOL, { abi: ABI.slice(0, 1) })
    expect([again.status, again.body.data]).toMatchObject([200, { address: POOL, function_count: 1 }])
    expect(again.body.data).not.toHaveProperty('name')
    expect((await api('GET', `main/abis/${POOL}`)).body.data).toEqual(again.body.data)
    await register(TOKEN, { abi: ABI, name: 'Pay Desk' })
    const list = await api<{ address: string; abi?: object }[]>('GET', 'main/abis?per_page=1&page=2')
    expect(list.body.pagination).toEqual({ current_page: 2, per_page: 1, total_items: 2 })
    expect(list.body.data.map(({ address, abi }) => [address, abi])).toEqual([[TOKEN, undefined]])
    expect((await api('DELETE', `main/abis/${POOL}`)).body.data).toBe('ABI deleted successfully')
    const gone = await api('DELETE', `main/abis/${POOL}`)
    expect(outcomeOf(gone)).toBe('404 abi_not_found')
    expect(gone.body.error).toBe(`Relayer main has no ABI for ${POOL}.`)
    expect(outcomeOf(await api('GET', `main/abis/${POOL}`))).toBe('404 abi_not_found')
    const audit = await story.service.api<{ action: string; after?: object; before?: object }[]>(
      'GET',
      '/audit?limit=4',
    )
    expect(audit.body.data).toMatchObject([
      {
        action: 'deleteAbi',
        target_type: 'relayer',
        target_id: 'main',
        before: { address: POOL, functions: 1 },
      },
      { action: 'registerAbi', after: { address: TOKEN, name: 'Pay Desk', functions: 3 } },
      { action: 'registerAbi', before: { name: 'Pool', functions: 3 }, after: { functions: 1 } },
      { action: 'registerAbi', after: { address: POOL, functions: 3 } },
    ])
    expect(audit.body.data[3]).not.toHaveProperty('before')
  })

  const nested = (depth: number): object =>
    depth === 0 ? { type: 'bool' } : { type: 'tuple', components: [nested(depth - 1)] }
  test.each<[string, unknown, string]>([
    ['none', undefined, 'body.abi: is required.'],
    ['nothing', [], 'body.abi: expected at least 1 items.'],
    ['a text as item', ['function f()'], 'body.abi[0]: expected an object.'],
    ['no name', [{ type: 'function' }], 'body.abi[0].name: expected a name of letters, digits, _ and $.'],
    ['a zero byte', [{ name: 'f\0' }], 'body.abi[0].name: expected a name of letters, digits, _ and $.'],
    ['an unknown item', [{ type: 'impl' }], 'body.abi[0].type: expected function, event, error, '],
    ['no type', [{ name: 'f', inputs: [{}] }], 'body.abi[0].inputs[0].type: expected the name of a type.'],
    [
      'a type of a thousand dimensions',
      [{ name: 'f', inputs: [{ type: `bool${'[]'.repeat(1000)}` }] }],
      'body.abi[0].inputs[0].type: expected a type of Solidity, ',
    ],
    ['a deep tuple', [{ name: 'f', inputs: [nested(40)] }], 'nested'],
    [
      'more than 256 KiB',
      Array.from({ length: 700 }, (_, at) => ({
        name: `f${at}`,
        inputs: Array(8).fill({ type: 'bool', name: 'x'.repeat(90) }),
      })),
      'body.abi: expected at most 262144 bytes of JSON, not ',
    ],
  ])('with %s is refused', async (_name, abi, sentence) => {
    const answer = await register(POOL, { abi })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(sentence)
    expect(outcomeOf(await api('GET', `main/abis/${POOL}`))).toBe('404 abi_not_found')
  })

  test('has an address', async () => {
    const answer = await register('0x1', { abi: ABI })
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toBe('path.address: expected 0x and 40 hexadecimal digits.')
  })
})

describe('with a registered ABI', () => {
  test('a call names its function and arguments, and every answer and event shows it', async () => {
    const sent = await story.send(
      byName({ function: 'pay(address,uint256)', args: { to: RECEIVER, amount: AMOUNT } }),
    )
    expect(sent.data).toBe(PAY)
    const seen = until(
      async () => receiver.received.filter(({ body }) => body.payload.id === sent.id),
      (list) => list.some(({ body }) => body.payload.status === 'confirmed'),
    )
    await story.settle()
    const { hash, nonce } = await story.get(sent.id)
    expect(await story.anvil.rpc('eth_getTransactionByHash', [hash])).toMatchObject({ input: PAY })
    for (const { text, body } of await seen) {
      expect(body.payload).toMatchObject({ data: PAY, decoded_call: PAY_DECODED })
      expect(checkWebhook(text)).toBeUndefined()
    }
    const path = `main/transactions/${sent.id}`
    expect((await api('GET', path)).body.data.decoded_call).toEqual(PAY_DECODED)
    expect((await api('GET', `${path}/diagnosis`)).body.data.decoded_call).toEqual(PAY_DECODED)
    expect((await api('GET', `main/transactions/by-nonce/${nonce}`)).body.data.decoded_call).toEqual(
      PAY_DECODED,
    )
    const [listed] = (await api<WithCall[]>('GET', 'main/transactions')).body.data
    expect(listed?.decoded_call).toEqual(PAY_DECODED)
    const [found] = (await story.service.api<WithCall[]>('GET', `/transactions?id=${sent.id}`)).body.data
    expect(found?.decoded_call).toEqual(PAY_DECODED)
    const events = await story.service.api<{ payload: WithCall }[]>(
      'GET',
      `/events?transaction_id=${sent.id}`,
    )
    for (const { payload } of events.body.data) expect(payload.decoded_call).toEqual(PAY_DECODED)
    expect(events.body.data.length).toBeGreaterThan(3)
  })

  test('a call has tuples by name, and is an item of a batch and of a dry run', async () => {
    const list = [{ token: RECEIVER, ids: ['1', AMOUNT] }]
    const call = { function: 'sweep', args: { list, memo: 'é' } }
    const { body } = await sendBatch(story.service, [
      byName(call),
      byName({ function: 'pay(address)', args: [RECEIVER] }),
    ])
    const [sweep, pay] = await Promise.all(
      body.data.map(async ({ id }) => (await api('GET', `main/transactions/${id}`)).body.data.decoded_call),
    )
    expect(sweep).toMatchObject({
      function: 'sweep((address,uint256[])[],string)',
      args: [
        { name: 'list', value: list },
        { name: 'memo', value: 'é' },
      ],
    })
    expect(pay).toMatchObject({ function: 'pay(address)', args: [{ name: 'to', value: RECEIVER }] })
    const dry = await api<{ accepted: boolean }>('POST', 'main/transactions?dry_run=true', byName(call))
    expect(dry.body.data).toMatchObject({ dry_run: true, accepted: true })
    await story.settle()
  })

  test('a call is the same request as one with its data, and a later ABI changes nothing of it', async () => {
    await register(POOL, { abi: parseAbi(['function vote(uint8 choice)']) })
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const post = (body: object) => api('POST', 'main/transactions', body, headers)
    const first = await post(byName({ function: 'vote', args: [1] }, { to: POOL }))
    await register(POOL, { abi: parseAbi(['function vote(uint16 choice)']) })
    const again = await post({ to: POOL, value: 0, data: first.body.data.data })
    expect(again.body.data.id).toBe(first.body.data.id)
    expect((await api('GET', `main/transactions/${first.body.data.id}`)).body.data).not.toHaveProperty(
      'decoded_call',
    )
    expect(outcomeOf(await post(byName({ function: 'vote', args: [1] }, { to: POOL })))).toBe(
      '409 idempotency_key_reused',
    )
    await register(POOL, { abi: parseAbi(['function vote(uint8 choice)']), name: 'Votes' })
    expect(
      (await api('GET', `main/transactions/${first.body.data.id}`)).body.data.decoded_call,
    ).toMatchObject({
      contract_name: 'Votes',
      args: [{ name: 'choice', type: 'uint8', value: '1' }],
    })
    await api('DELETE', `main/abis/${POOL}`)
    await story.settle()
  })

  test.each<[string, object, object, string]>([
    [
      'that is not registered',
      { function: 'pay', args: [] },
      { to: POOL },
      `body.call.function: no ABI is registered for ${POOL}; expected a signature such as transfer(address,uint256), or the function in call.abi, or register the ABI with PUT /api/v1/relayers/main/abis/${POOL}.`,
    ],
    [
      'of an unknown function',
      { function: 'mint', args: [] },
      {},
      `body.call.function: expected a function of the ABI that is registered for ${TOKEN}, which has pay(address)`,
    ],
    [
      'of an ambiguous name',
      { function: 'pay', args: [] },
      {},
      'body.call.function: several have this name; expected one of pay(address)',
    ],
    [
      'without an argument',
      { function: 'pay(address,uint256)', args: { to: RECEIVER } },
      {},
      'body.call.args.amount: is required.',
    ],
    [
      'with another argument',
      { function: 'pay(address)', args: { to: RECEIVER, memo: '' } },
      {},
      'body.call.args: expected the fields to, and no others.',
    ],
  ])('a call %s is refused with what to do', async (_name, call, more, sentence) => {
    const answer = await story.post(byName(call, more))
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toContain(sentence)
  })

  test('a call of another function is sent by its signature as before', async () => {
    const { id, data } = await story.send(byName({ function: 'burn(uint256)', args: [5] }))
    expect(data?.slice(0, 10)).toBe('0x42966c68')
    expect((await api('GET', `main/transactions/${id}`)).body.data.decoded_call).toEqual({
      function: 'burn(uint256)',
      contract_name: 'Pay Desk',
      source: 'standard',
      args: [{ name: null, type: 'uint256', value: '5' }],
    })
    await story.settle()
  })

  test('data that fits no function exactly is shown as data alone', async () => {
    for (const data of [`${PAY}00`, PAY.slice(0, -2), PAY.slice(0, 10), '0x', '0x12345678']) {
      const { id } = await story.send({ to: TOKEN, value: 0, data })
      const { body } = await api('GET', `main/transactions/${id}`)
      expect([body.data.data, body.data.decoded_call]).toEqual([data, undefined])
    }
    await story.settle()
  })
})

test('while a transaction awaits an approval, an ABI of its sender does not explain it', async () => {
  const key = {
    name: 'Desk',
    scopes: ['relayers:read', 'relayers:write', 'transactions:read', 'transactions:write'],
    rules: { require_approval: {} },
  }
  const issued = await story.service.api<{ secret: string }>('POST', '/api-keys', key)
  const sender = { authorization: `Bearer ${issued.body.data.secret}` }
  const shown = async (id: string) => (await api('GET', `main/transactions/${id}`)).body.data.decoded_call
  await api('PUT', `main/abis/${TOKEN}`, { abi: ABI, name: 'Our Treasury' }, sender)
  const { id } = (await api('POST', 'main/transactions', { to: TOKEN, value: 0, data: PAY }, sender)).body
    .data
  expect((await api('GET', `main/transactions/${id}`)).body.data).toMatchObject({ awaits_approval: true })
  expect(await shown(id)).toBeUndefined()
  await register(TOKEN, { abi: ABI, name: 'Pay Desk' })
  expect(await shown(id)).toEqual(PAY_DECODED)
  await api('PUT', `main/abis/${TOKEN}`, { abi: ABI, name: 'Our Treasury' }, sender)
  expect((await api('POST', `main/transactions/${id}/approval`, { decision: 'approve' })).status).toBe(200)
  expect((await shown(id))?.contract_name).toBe('Our Treasury')
  await register(TOKEN, { abi: ABI, name: 'Pay Desk' })
})

describe('rights', () => {
  const issue = async (rights: object) => {
    const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Narrow',
      ...rights,
    })
    return { authorization: `Bearer ${body.data.secret}` }
  }

  test('reading needs relayers:read, and changing relayers:write', async () => {
    const reader = await issue({ scopes: ['relayers:read'] })
    const one = `main/abis/${TOKEN}`
    expect((await api('GET', one, undefined, reader)).status).toBe(200)
    expect((await api('GET', 'main/abis', undefined, reader)).status).toBe(200)
    expect(outcomeOf(await api('PUT', one, { abi: ABI }, reader))).toBe('403 insufficient_scope')
    expect(outcomeOf(await api('DELETE', one, undefined, reader))).toBe('403 insufficient_scope')
    const sender = await issue({ scopes: ['transactions:write'] })
    expect(outcomeOf(await api('GET', one, undefined, sender))).toBe('403 insufficient_scope')
  })

  test('a key that does not see the relayer does not see its ABIs', async () => {
    const narrow = await issue({ scopes: ['relayers:read', 'relayers:write'], relayers: ['other'] })
    for (const [method, path] of [
      ['GET', 'main/abis'],
      ['GET', `main/abis/${TOKEN}`],
      ['PUT', `main/abis/${TOKEN}`],
      ['DELETE', `main/abis/${TOKEN}`],
    ] as const) {
      const answer = await api(method, path, method === 'PUT' ? { abi: ABI } : undefined, narrow)
      expect(outcomeOf(answer)).toBe('404 relayer_not_found')
    }
    expect((await api('PUT', `other/abis/${TOKEN}`, { abi: ABI }, narrow)).status).toBe(200)
  })

  test('the ABI of another relayer counts for nothing', async () => {
    await register(POOL, { abi: ABI }, 'other')
    const answer = await story.post(byName({ function: 'sweep', args: [[], ''] }, { to: POOL }))
    expect(answer.body.error).toContain(`no ABI is registered for ${POOL}`)
  })
})

test('a relayer that is deleted takes its ABIs along, and one of its name begins without them', async () => {
  const relayer = { id: 'brief', name: 'Brief', network: 'anvil', network_type: 'evm', paused: false }
  await api('DELETE', 'other')
  const create = () => story.service.api('POST', '/relayers', { ...relayer, signer_id: 'dev-1' })
  expect((await create()).body.data).toMatchObject({ address: DEV_ADDRESSES[1] })
  await register(TOKEN, { abi: ABI }, 'brief')
  await api('DELETE', 'brief')
  expect(outcomeOf(await api('GET', 'brief/abis'))).toBe('404 relayer_not_found')
  await create()
  expect((await api('GET', 'brief/abis')).body.pagination?.total_items).toBe(0)
})

test('a relayer has at most 200 ABIs', async () => {
  const abi = ABI.slice(0, 1)
  const { pagination } = (await api('GET', 'brief/abis')).body
  expect(pagination?.total_items).toBe(0)
  for (let at = 1; at <= 200; at += 1)
    await register(`0x${at.toString(16).padStart(40, '0')}`, { abi }, 'brief')
  const answer = await register(TOKEN, { abi }, 'brief')
  expect(answer.body.error).toBe('path.address: relayer brief has 200 ABIs, the maximum; delete one first.')
  expect((await register(`0x${'1'.padStart(40, '0')}`, { abi }, 'brief')).status).toBe(200)
})
