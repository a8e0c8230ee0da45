import { recoverMessageAddress, recoverTransactionAddress, recoverTypedDataAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEip1193Provider, ProviderRpcError } from '../../clients/typescript/src/eip1193.ts'
import { createRelayerClient, type RelayerClient } from '../../clients/typescript/src/index.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { API_KEY, DEV_ADDRESSES, RECEIVER } from '../support/service.ts'
import { startUnreliableProxy } from '../support/unreliable-proxy.ts'
import { runReadmeProgram } from './readme-program.ts'

const [ACCOUNT, ANOTHER] = DEV_ADDRESSES
const CHAIN = '0x7a69'
const SEND = 'eth_sendTransaction'
/** Its code reverts always. With a limit of gas, the chain is the first that says so. */
const REVERTING = '0x00000000000000000000000000000000000000ff'

let story: Scenario
let client: RelayerClient
let request: (method: string, ...params: unknown[]) => Promise<unknown>

beforeAll(async () => {
  story = await startScenario()
  client = createRelayerClient({ baseUrl: story.service.url, apiKey: API_KEY })
  request = requestOf(client)
}, 60_000)
afterAll(() => story.stop())

/** Calls a provider of its own. */
function requestOf(caller: RelayerClient, relayerId = 'main'): typeof request {
  const provider = createEip1193Provider({ client: caller, relayerId })
  return (method, ...params) => provider.request({ method, params })
}

/** A client with a key of these rights. */
async function clientWith(rights: Partial<Parameters<RelayerClient['apiKeys']['create']>[0]>) {
  const { secret } = await client.apiKeys.create({ name: 'Limited', scopes: [], ...rights })
  return createRelayerClient({ baseUrl: story.service.url, apiKey: secret })
}

const newest = async () => (await client.transactions.list('main').page()).items[0]
const countOf = async () => (await client.transactions.list('main').page()).pagination?.total_items

describe('the account and the network', () => {
  test('are those of the relayer', async () => {
    expect(await request('eth_accounts')).toEqual([ACCOUNT])
    expect(await request('eth_requestAccounts')).toEqual([ACCOUNT])
    expect(await request('eth_chainId')).toBe(CHAIN)
    expect(await request('net_version')).toBe('31337')
    expect(await request('eth_getBalance', RECEIVER, 'latest')).toBe(
      await story.anvil.rpc('eth_getBalance', [RECEIVER, 'latest']),
    )
  })

  test('do not change, so listeners are taken and never called', () => {
    const provider = createEip1193Provider({ client, relayerId: 'main' })
    const listener = () => expect.unreachable()
    expect(provider.on('accountsChanged', listener).removeListener('accountsChanged', listener)).toBe(
      provider,
    )
  })
})

describe('eth_sendTransaction', () => {
  test('sends a transaction of the relayer, and resolves to its hash as soon as it is signed', async () => {
    const hash = await request(SEND, {
      from: ACCOUNT.toLowerCase(),
      to: RECEIVER,
      value: '0xde0b6b3a7640001',
      data: '0xab',
      gas: '0x7530',
      maxFeePerGas: '0x77359400',
      maxPriorityFeePerGas: '0x3b9aca00',
      chainId: CHAIN,
      type: '0x2',
      nonce: undefined,
      accessList: [],
    })
    expect(await newest()).toMatchObject({
      hash,
      to: RECEIVER,
      value: '1000000000000000001',
      data: '0xab',
      gas_limit: 30_000n,
      max_fee_per_gas: '2000000000',
      max_priority_fee_per_gas: '1000000000',
    })
    await story.settle()
    expect(await request('eth_getTransactionReceipt', hash)).toMatchObject({
      transactionHash: hash,
      status: '0x1',
    })
  })

  test.each([
    ['from', 4100, { from: ANOTHER }],
    ['nonce', -32602, { nonce: '0x0' }],
    ['chainId', 4901, { chainId: '0x1' }],
    ['value', -32602, { value: 1 }],
    ['gas', -32602, { gas: '21000' }],
    ['to', -32602, { to: '0x00' }],
    ['data', -32602, { data: '0x1' }],
    ['input', -32602, { data: '0x01', input: '0x02' }],
    ['gasLimit', -32602, { gasLimit: '0x5208' }],
    ['accessList', -32602, { accessList: [{ address: RECEIVER, storageKeys: [] }] }],
    ['type', -32602, { type: '0x4' }],
  ])('names %s when that is wrong, and sends nothing', async (name, code, wrong) => {
    const before = await countOf()
    const refused = request(SEND, { from: ACCOUNT, to: RECEIVER, value: '0x1', ...wrong })
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(`^${name}: `) })
    expect(await countOf()).toBe(before)
  })

  test.each([
    ['execution_reverted', 3, { data: '0x60006000fd' }],
    ['invalid_request', -32602, { to: RECEIVER, gasPrice: '0x1', maxFeePerGas: '0x1' }],
    ['insufficient_balance', -32003, { to: RECEIVER, value: `0x1${'0'.repeat(24)}` }],
  ])('tells the code of the service when that refuses: %s', async (reason, code, content) => {
    const refused = request(SEND, { from: ACCOUNT, ...content })
    await expect(refused).rejects.toMatchObject({
      code,
      data: { code: reason, status: 400, requestId: expect.any(String) },
    })
    await expect(refused).rejects.toBeInstanceOf(ProviderRpcError)
  })

  test('is rejected like by a person when the transaction is not approved', async () => {
    const asking = await clientWith({
      scopes: ['relayers:read', 'rpc', 'transactions:write', 'transactions:read'],
      rules: { require_approval: {} },
    })
    const sending = requestOf(asking)(SEND, { from: ACCOUNT, to: RECEIVER }).catch((error: unknown) => error)
    await expect.poll(newest).toMatchObject({ status: 'pending', awaits_approval: true })
    const { id = '' } = (await newest()) ?? {}
    await client.approvals.decide('main', id, { decision: 'refuse' })
    expect(await sending).toMatchObject({ code: 4001, data: { transactionId: id, status: 'canceled' } })
  })

  test('tells what was accepted when the API key may not look at it, so that it is not sent again', async () => {
    const blind = await clientWith({ scopes: ['relayers:read', 'transactions:write'] })
    const error = await requestOf(blind)(SEND, { to: RECEIVER, value: '0x1' }).catch(
      (error: unknown) => error,
    )
    const { id = '' } = (await newest()) ?? {}
    expect(error).toMatchObject({
      code: 4100,
      message: expect.stringMatching(
        `^transaction ${id} was accepted, and cannot be seen: .*transactions:read`,
      ),
      data: { transactionId: id },
    })
    await story.settle()
  })

  test('resolves to the hash of a transaction that the chain reverts', async () => {
    await story.anvil.rpc('anvil_setCode', [REVERTING, '0x5f5ffd'])
    const hash = await request(SEND, { to: REVERTING, gas: '0x186a0' })
    await story.settle()
    expect(await request('eth_getTransactionReceipt', hash)).toMatchObject({
      transactionHash: hash,
      status: '0x0',
    })
  })
})

describe('the hash of any attempt', () => {
  /** Sends, and replaces it. */
  async function replaced() {
    const first = await request(SEND, { to: RECEIVER, value: '0x1' })
    const { id = '' } = (await newest()) ?? {}
    await client.transactions.waitFor('main', id, 'submitted')
    // A process that has never seen the first hash.
    const other = requestOf(client)
    await client.transactions.replace('main', id, { to: RECEIVER, value: 2n, speed: 'fastest' })
    await expect.poll(async () => (await client.transactions.get('main', id)).hash).not.toBe(first)
    const { hash: second } = await client.transactions.waitFor('main', id, 'submitted')
    return { id, first, second, other }
  }

  test('leads to the receipt of what the chain includes', async () => {
    const { first, second, other } = await replaced()
    await expect.poll(() => request('eth_getTransactionByHash', first)).toMatchObject({ hash: second })
    expect(await request('eth_getTransactionReceipt', first)).toBeNull()
    await story.settle()
    for (const ask of [request, other]) {
      expect(await ask('eth_getTransactionReceipt', first)).toMatchObject({
        transactionHash: second,
        status: '0x1',
      })
      expect(await ask('eth_getTransactionByHash', first)).toMatchObject({ hash: second, value: '0x2' })
    }
  })

  test('leads nowhere for a key that may not see transactions', async () => {
    const { first } = await replaced()
    await story.settle()
    const blind = requestOf(await clientWith({ scopes: ['rpc', 'relayers:read'] }))
    expect(await blind('eth_getTransactionReceipt', first)).toBeNull()
    expect(await blind('eth_getTransactionReceipt', 'no hash').catch(String)).not.toContain('query.hash')
  })

  test('leads to the no-op when the transaction was canceled', async () => {
    const hash = await request(SEND, { to: RECEIVER, value: '0x1' })
    const { id = '' } = (await newest()) ?? {}
    await client.transactions.waitFor('main', id, 'submitted')
    await client.transactions.cancel('main', id)
    await expect.poll(async () => (await client.transactions.get('main', id)).hash).not.toBe(hash)
    await story.settle()
    const { hash: noOp } = await client.transactions.get('main', id)
    expect(await request('eth_getTransactionReceipt', hash)).toMatchObject({ transactionHash: noOp })
  })

  test('that is unknown is null', async () => {
    const hash = `0x${'1'.repeat(64)}`
    expect(await request('eth_getTransactionReceipt', hash)).toBeNull()
    expect(await request('eth_getTransactionByHash', hash)).toBeNull()
  })
})

describe('signing', () => {
  const TEXT = '\ufeffgrüezi 👋'

  test('of a message is EIP-191 over its bytes, in hex or as text', async () => {
    const hex = `0x${Buffer.from(TEXT).toString('hex')}`
    const signature = (await request('personal_sign', hex, ACCOUNT)) as `0x${string}`
    expect(await recoverMessageAddress({ message: TEXT, signature })).toBe(ACCOUNT)
    expect(await request('personal_sign', TEXT, ACCOUNT.toLowerCase())).toBe(signature)
  })

  test('of typed data takes a document and its JSON, with integers of any size', async () => {
    const types = { Amount: [{ name: 'value', type: 'uint256' }] } as const
    const typed = {
      domain: { chainId: 31337 },
      types,
      primaryType: 'Amount',
      message: { value: 2n ** 70n },
    } as const
    const json = JSON.stringify({ ...typed, message: 0 }).replace(
      '"message":0',
      `"message":{"value":${2n ** 70n}}`,
    )
    for (const document of [typed, json]) {
      const signature = (await request('eth_signTypedData_v4', ACCOUNT, document)) as `0x${string}`
      expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(ACCOUNT)
    }
  })

  test('of a transaction gives its bytes, and sends nothing', async () => {
    const before = await countOf()
    const price = { gas: '0x5208', gasPrice: '0x77359400' }
    const signed = await request('eth_signTransaction', {
      from: ACCOUNT,
      to: RECEIVER,
      nonce: '0x3e8',
      ...price,
    })
    const serializedTransaction = signed as `0x02${string}`
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(ACCOUNT)
    expect(await countOf()).toBe(before)
  })

  test.each([
    ['eth_sign', [ACCOUNT, '0x00'], 4200, 'eth_sign'],
    ['personal_sign', ['0xff', ACCOUNT], -32602, 'data'],
    ['personal_sign', [7, ACCOUNT], -32602, 'data'],
    ['personal_sign', ['0x00', ANOTHER], 4100, 'address'],
    ['personal_sign', ['0x00'], -32602, 'address'],
    ['eth_signTypedData_v4', [ANOTHER, '{}'], 4100, 'address'],
    ['eth_signTypedData_v4', [ACCOUNT, '{'], -32602, 'document'],
    ['eth_signTypedData_v4', [ACCOUNT, []], -32602, 'document'],
    ['eth_signTransaction', [{ to: RECEIVER, gas: '0x5208', gasPrice: '0x1' }], -32602, 'nonce'],
    ['eth_signTransaction', [{ to: RECEIVER, nonce: '0x0', gasPrice: '0x1' }], -32602, 'gas'],
    ['eth_signTransaction', ['0x'], -32602, 'transaction'],
  ])('%s %j is %i', async (method, params, code, name) => {
    await expect(request(method, ...params)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(`^${name}: `),
    })
  })
})

describe('a failure has a code of EIP-1193', () => {
  test('for what the API key may not do or see', async () => {
    const reader = await clientWith({ scopes: ['relayers:read'] })
    await expect(requestOf(reader)('personal_sign', 'text', ACCOUNT)).rejects.toMatchObject({
      code: 4100,
      data: { code: 'insufficient_scope' },
    })
    await expect(requestOf(client, 'nobody')('eth_accounts')).rejects.toMatchObject({
      code: 4100,
      data: { code: 'relayer_not_found' },
    })
  })

  test('for a method that the network is not asked', async () => {
    await expect(request('eth_sendRawTransaction', '0x')).rejects.toMatchObject({
      code: -32601,
      message: expect.stringMatching(/^This relayer does not forward eth_sendRawTransaction/),
    })
  })

  test('for an error of the node, whose data stays', async () => {
    const call = { to: REVERTING, from: RECEIVER }
    await story.anvil.rpc('anvil_setCode', [REVERTING, '0x60aa5f5260205ffd'])
    await expect(request('eth_call', call, 'latest')).rejects.toMatchObject({
      code: 3,
      data: `0x${'aa'.padStart(64, '0')}`,
    })
  })

  test('when the service does not answer, and the first answer is not the last', async () => {
    const proxy = await startUnreliableProxy(story.service.url)
    const lonely = createRelayerClient({ baseUrl: proxy.url, apiKey: API_KEY, maxRetries: 0 })
    const ask = requestOf(lonely)
    proxy.loseNextAnswer()
    await expect(ask('eth_accounts')).rejects.toMatchObject({ code: 4900, data: { mayHaveArrived: true } })
    expect(await ask('eth_accounts')).toEqual([ACCOUNT])
    await proxy.stop()
  })
})

describe('EIP-5792', () => {
  const CALL = { to: RECEIVER, value: '0x1' }
  const BUNDLE = {
    version: '2.0.0',
    chainId: CHAIN,
    from: ACCOUNT,
    atomicRequired: false,
    calls: [CALL, CALL],
  }
  const send = async (more: object = {}) =>
    ((await request('wallet_sendCalls', { ...BUNDLE, ...more })) as { id: string }).id

  test('the account is not atomic', async () => {
    const none = { [CHAIN]: { atomic: { status: 'unsupported' } } }
    expect(await request('wallet_getCapabilities', ACCOUNT)).toEqual(none)
    expect(await request('wallet_getCapabilities', ACCOUNT, ['0x1', CHAIN])).toEqual(none)
    expect(await request('wallet_getCapabilities', ACCOUNT, ['0x1'])).toEqual({})
    await expect(request('wallet_getCapabilities', ANOTHER)).rejects.toMatchObject({ code: 4100 })
  })

  test('each call is a transaction, and every process finds them by the id', async () => {
    const before = (await countOf()) ?? 0
    const id = await send()
    expect(await countOf()).toBe(before + 2)
    expect(await request('wallet_getCallsStatus', id)).toMatchObject({ status: 100, receipts: [] })
    await story.settle()
    const status = await requestOf(client)('wallet_getCallsStatus', id)
    expect(status).toMatchObject({ version: '2.0.0', id, chainId: CHAIN, status: 200, atomic: false })
    expect((status as { receipts: unknown[] }).receipts).toMatchObject([{ status: '0x1' }, { status: '0x1' }])
  })

  test('an id of the application counts once, also for another process', async () => {
    const id = await send({ id: 'mine' })
    expect(id).toBe('mine')
    const before = await countOf()
    await expect(send({ id })).rejects.toMatchObject({ code: 5720 })
    const other = requestOf(client)
    expect(await other('wallet_sendCalls', { ...BUNDLE, id })).toEqual({ id })
    await expect(
      requestOf(client)('wallet_sendCalls', { ...BUNDLE, id, calls: [{ to: ANOTHER }] }),
    ).rejects.toMatchObject({
      code: 5720,
    })
    expect(await countOf()).toBe(before)
    await story.settle()
    expect(await request('wallet_getCallsStatus', id)).toMatchObject({ id, status: 200 })
  })

  test('a call that is refused is named, and nothing is sent', async () => {
    const refused = { data: '0x60006000fd' }
    const before = await countOf()
    for (const [at, calls] of [
      [refused, CALL],
      [CALL, refused],
    ].entries())
      await expect(send({ calls })).rejects.toMatchObject({
        code: 3,
        message: expect.stringMatching(`^calls.${at}: `),
        data: { code: 'execution_reverted' },
      })
    expect(await countOf()).toBe(before)
  })

  test('a status tells what reverts, in part and as a whole, and what never comes', async () => {
    await story.anvil.rpc('anvil_setCode', [REVERTING, '0x5f5ffd'])
    const reverts = { to: REVERTING, gas: '0x186a0' }
    const [partly, wholly] = [await send({ calls: [CALL, reverts] }), await send({ calls: [reverts] })]
    const canceled = await send({ calls: [CALL] })
    const { id = '' } = (await newest()) ?? {}
    await client.transactions.cancel('main', id)
    await story.settle()
    const statuses = [partly, wholly, canceled].map((bundle) => request('wallet_getCallsStatus', bundle))
    expect(await Promise.all(statuses)).toMatchObject([
      { status: 600 },
      { status: 500 },
      { status: 400, receipts: [] },
    ])
  })

  test.each([
    ['of one transaction', 5760, { atomicRequired: true }],
    ['of another chain', 5710, { chainId: '0x1' }],
    ['with a capability', 5700, { capabilities: { paymasterService: { url: 'https://example.com' } } }],
    ['with a call with one', 5700, { calls: [{ ...CALL, capabilities: { gas: {} } }] }],
    ['of 101 calls', 5740, { calls: Array(101).fill(CALL) }],
    ['of another account', 4100, { from: ANOTHER }],
    ['of an old version', -32602, { version: '1.0' }],
    ['without calls', -32602, { calls: [] }],
    ['that does not say if it is atomic', -32602, { atomicRequired: undefined }],
    ['without a chain', -32602, { chainId: undefined }],
    ['with a nonce', -32602, { calls: [CALL, { ...CALL, nonce: '0x1' }] }],
  ])('nothing of a bundle %s is sent: %i', async (_name, code, more) => {
    const before = await countOf()
    await expect(send(more)).rejects.toMatchObject({ code })
    expect(await countOf()).toBe(before)
  })

  test('an optional capability is left out, and an unknown bundle has no status', async () => {
    const id = await send({ calls: [CALL], capabilities: { paymasterService: { optional: true } } })
    await story.settle()
    expect(await request('wallet_getCallsStatus', id)).toMatchObject({ status: 200 })
    for (const unknown of ['nobody', `0x${'1'.repeat(32)}`])
      await expect(request('wallet_getCallsStatus', unknown)).rejects.toMatchObject({ code: 5730 })
  })
})

test('the program of the README sends one ether', async () => {
  await story.anvil.rpc('evm_setAutomine', [true])
  const said = await runReadmeProgram(story.service, 'EIP-1193')
  expect(said).toMatch(/^0x[0-9a-f]{64}\n$/)
})
