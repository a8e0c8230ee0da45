import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { issueLimited, outcomeOf, violationIn } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_KEYS, RECEIVER, sendBatch } from '../../support/service.ts'

/** Runtime code that stores 1 in slot 0: PUSH1 1, PUSH1 0, SSTORE. */
const STORES = '0x6001600055'
const CONTRACT = '0x00000000000000000000000000000000000c0de1'
const SLOT = `0x${'0'.repeat(64)}`

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
  await story.anvil.rpc('anvil_setCode', [CONTRACT, STORES])
  await story.service.api('PATCH', '/relayers/main', { policies: { allow_authorization_list: true } })
}, 120_000)
afterEach(() => story.settle())
afterAll(() => story.stop())

const ACCESS = [{ address: CONTRACT, storage_keys: [SLOT] }]
const call = (change: object = {}) => ({ to: CONTRACT, value: 0, ...change })

/** What the node has under the hash. */
const onChain = (hash: string | undefined) =>
  story.anvil.rpc<{ type: string; accessList?: unknown[]; authorizationList?: unknown[]; nonce: string }>(
    'eth_getTransactionByHash',
    [hash],
  )

let accounts = 0

/** An authorization of a new account, or of the holder of `key`, as a wallet signs it. */
async function authorize({ key = fresh(), chainId = 31337, nonce = 0, address = CONTRACT as Hex } = {}) {
  const authority = privateKeyToAccount(key)
  const signed = await authority.signAuthorization({ address, chainId, nonce })
  const { r, s, yParity } = signed
  return {
    authority: authority.address,
    entry: { chain_id: chainId, address, nonce, y_parity: yParity ?? 0, r, s },
  }
}

function fresh(): Hex {
  accounts += 1
  return `0x${String(accounts).padStart(64, '7')}`
}

const codeOf = (address: string) => story.anvil.rpc<string>('eth_getCode', [address, 'latest'])

describe('an access list', () => {
  test.each([
    ['EIP-1559 prices', { speed: 'fast' }, '0x2'],
    ['a legacy price', { gas_price: 3_000_000_000 }, '0x1'],
  ])('with %s is signed, estimated and shown', async (_name, price, type) => {
    const { id } = await story.send(call({ access_list: ACCESS, ...price }))
    const sent = await story.reach(id, 'submitted')
    const shown = [{ address: expect.stringMatching(new RegExp(CONTRACT, 'i')), storage_keys: [SLOT] }]
    expect(sent).toMatchObject({ access_list: shown, attempts: [{ access_list: shown }] })
    const { accessList, type: sentAs } = await onChain(sent.hash)
    expect([sentAs, accessList]).toEqual([type, [{ address: CONTRACT, storageKeys: [SLOT] }]])
    await story.settle()
    expect((await story.get(id)).status).toBe('confirmed')
  })

  test('is that of the newest content, and none in the no-op of a cancellation', async () => {
    const { id } = await story.send(call({ access_list: ACCESS }))
    await story.reach(id, 'submitted')
    const put = await story.replace(id, call({ value: 1, speed: 'fastest' }))
    expect(put.body.data.access_list).toBeUndefined()
    const again = await story.replace(id, call({ access_list: ACCESS, speed: 'fastest' }))
    expect((await onChain(again.body.data.hash)).accessList).toHaveLength(1)
    const canceled = await story.cancel(id)
    expect((await onChain(canceled.body.data.hash)).accessList).toEqual([])
  })

  test('counts in the gas that a request needs at least', async () => {
    const answer = await story.post(call({ access_list: ACCESS, gas_limit: 25_299 }))
    expect([outcomeOf(answer), answer.body.error]).toEqual([
      '400 gas_limit_too_low',
      expect.stringMatching(
        /^gas_limit: at least \d+ is expected, by the estimate of the network; 25299 was given\.$/,
      ),
    ])
  })

  test('with a key of another length is refused by its place', async () => {
    const list = [...ACCESS, { address: CONTRACT, storage_keys: ['0x00'] }]
    const answer = await sendBatch(story.service, [call(), call({ access_list: list })])
    expect(answer.body.error).toContain('body.transactions[1].access_list[1].storage_keys[0]')
  })
})

describe('an authorization list', () => {
  test('lets an account run the code of a contract, in a transaction of type 4', async () => {
    const { authority, entry } = await authorize()
    const { id } = await story.send({ to: authority, value: 0, authorization_list: [entry] })
    const sent = await story.reach(id, 'submitted')
    expect(sent.authorization_list).toMatchObject([{ ...entry, address: expect.any(String) }])
    expect((await onChain(sent.hash)).type).toBe('0x4')
    await story.settle()
    expect((await story.get(id)).status).toBe('confirmed')
    expect(await codeOf(authority)).toBe(`0xef0100${CONTRACT.slice(2)}`)
    expect(BigInt(await story.anvil.rpc('eth_getStorageAt', [authority, '0x0', 'latest']))).toBe(1n)
  })

  test.each([
    {
      name: 'whose nonce its account has used',
      prepare: (authority: string) => story.anvil.rpc('anvil_setNonce', [authority, '0x1']),
      error:
        /^authorization_list\[0\]\.nonce: 1 is expected, the nonce of 0x\w+ on the chain; 0 is used already/,
    },
    {
      name: 'of a contract',
      prepare: (authority: string) => story.anvil.rpc('anvil_setCode', [authority, STORES]),
      error: /^authorization_list\[0\]: 0x\w+ is a contract, so its authorization cannot apply/,
    },
  ])('$name is refused, because it cannot apply', async ({ prepare, error }) => {
    const { authority, entry } = await authorize()
    await prepare(authority)
    const body = { to: RECEIVER, value: 0, authorization_list: [entry] }
    const answer = await story.post(body)
    expect([outcomeOf(answer), answer.body.error]).toEqual([
      '400 invalid_request',
      expect.stringMatching(error),
    ])
    const dry = await story.service.api('POST', '/relayers/main/transactions?dry_run=true', body)
    expect(dry.body.data).toMatchObject({ accepted: false, error: expect.stringMatching(error) })
  })

  test('that did not apply after all is told on the record', async () => {
    const { authority, entry } = await authorize()
    const { id } = await story.send({ to: RECEIVER, value: 0, authorization_list: [entry] })
    await story.reach(id, 'submitted')
    await story.anvil.rpc('anvil_setNonce', [authority, '0x1'])
    await story.settle()
    const { status, status_reason } = await story.get(id)
    expect([status, status_reason]).toEqual([
      'confirmed',
      `authorization_list[0] did not apply: after the block, ${authority} runs no code of another contract.`,
    ])
    expect(await codeOf(authority)).toBe('0x')
  })

  test('of which the last one for an account counts says nothing about those before', async () => {
    const key = fresh()
    const first = await authorize({ key, address: RECEIVER as Hex })
    const second = await authorize({ key, nonce: 1 })
    const list = [first.entry, second.entry]
    const { id } = await story.send({ to: RECEIVER, value: 0, authorization_list: list })
    await story.reach(id, 'submitted')
    await story.settle()
    const { status, status_reason } = await story.get(id)
    expect([status, status_reason]).toEqual(['confirmed', undefined])
    expect(await codeOf(first.authority)).toBe(`0xef0100${CONTRACT.slice(2)}`)
  })

  test('goes with an access list, in a batch, and stays when the fee is replaced', async () => {
    const { authority, entry } = await authorize({ chainId: 0 })
    const body = { to: authority, value: 0, access_list: ACCESS, authorization_list: [entry] }
    const { body: batch } = await sendBatch(story.service, [body])
    const { id } = batch.data[0] ?? { id: '' }
    await story.reach(id, 'submitted')
    const put = await story.replace(id, { ...body, speed: 'fastest' })
    expect(put.status).toBe(200)
    expect(await onChain(put.body.data.hash)).toMatchObject({ type: '0x4', accessList: [expect.anything()] })
    await story.settle()
    expect(await codeOf(authority)).toBe(`0xef0100${CONTRACT.slice(2)}`)
  })

  test('is refused without the policy, which it names', async () => {
    const { entry } = await authorize()
    const body = { to: RECEIVER, value: 0, authorization_list: [entry] }
    const answer = await story.service.api('POST', '/relayers/other/transactions', body)
    expect([outcomeOf(answer), answer.body.error]).toEqual([
      '400 policy_violation',
      'authorization_list: the policy allow_authorization_list of the relayer is not true; set it, or omit the list.',
    ])
    const { id } = await story.send(call())
    await story.reach(id, 'submitted')
    await story.service.api('PATCH', '/relayers/main', { policies: { allow_authorization_list: false } })
    expect(outcomeOf(await story.replace(id, body))).toBe('400 policy_violation')
    await story.service.api('PATCH', '/relayers/main', { policies: { allow_authorization_list: true } })
  })

  test.each<[string, object, string]>([
    ['none', { authorization_list: [] }, 'body.authorization_list'],
    ['no receiver', { to: null, data: '0x00' }, 'to: an address is expected'],
    ['a legacy price', { gas_price: 1 }, 'gas_price: max_fee_per_gas'],
  ])('with %s is refused', async (_name, change, error) => {
    const { entry } = await authorize()
    const answer = await story.post({ to: RECEIVER, value: 0, authorization_list: [entry], ...change })
    expect([outcomeOf(answer), answer.body.error]).toEqual([
      '400 invalid_request',
      expect.stringContaining(error),
    ])
  })

  test.each<[string, () => Promise<object>, string]>([
    ['of another network', async () => (await authorize({ chainId: 1 })).entry, '[0].chain_id: 31337, or 0'],
    [
      "of the relayer's own account",
      async () => (await authorize({ key: DEV_KEYS[0] as Hex })).entry,
      '[0]: an auth',
    ],
    [
      'with a signature that is none',
      async () => ({ ...(await authorize()).entry, r: `0x${'f'.repeat(64)}` }),
      '[0]: y_parity, r and s',
    ],
    [
      'with a high s',
      async () => ({ ...(await authorize()).entry, s: `0x${'f'.repeat(64)}` }),
      '[0]: y_parity, r and s',
    ],
    [
      'with a nonce that no number holds',
      async () => ({ ...(await authorize()).entry, nonce: 2 ** 53 }),
      '[0].nonce: at most',
    ],
  ])('with an entry %s is refused', async (_name, entry, error) => {
    const answer = await story.post({ to: RECEIVER, value: 0, authorization_list: [await entry()] })
    expect([outcomeOf(answer), answer.body.error?.replace('body.', '')]).toEqual([
      '400 invalid_request',
      expect.stringContaining(`authorization_list${error}`),
    ])
  })

  test('is refused under a budget, unless the rules name the contract', async () => {
    const limits = [{ per: 'day', value: '1000' }]
    const { authority, entry } = await authorize()
    const body = { to: authority, value: 1, authorization_list: [entry] }
    const strict = await issueLimited(story.service, { limits })
    expect(violationIn(await strict.send(body))).toContain(`what ${CONTRACT} moves cannot be read`)
    const trusting = await issueLimited(story.service, { limits, contracts: [CONTRACT] })
    expect(outcomeOf(await trusting.send(body))).toBe('200')
  })
})

describe('a token that returns false instead of reverting', () => {
  /** Returns 32 bytes of zero: PUSH1 32, PUSH1 0, RETURN. */
  const RETURNS_FALSE = '0x60206000f3'
  const TOKEN = '0x00000000000000000000000000000000000c0de2'

  test('makes a record that says so, and is silent about calls that are no transfers', async () => {
    await story.anvil.rpc('anvil_setCode', [TOKEN, RETURNS_FALSE])
    const transfer = `0xa9059cbb${RECEIVER.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
    const { id } = await story.send({ to: TOKEN, value: 0, data: transfer })
    const other = await story.send({ to: TOKEN, value: 0, data: '0x12345678' })
    await story.settle()
    expect(await story.get(id)).toMatchObject({
      status: 'confirmed',
      status_reason: expect.stringMatching(/emitted no event, so this transfer moved no tokens/),
    })
    expect((await story.get(other.id)).status_reason).toBeUndefined()
  })
})
