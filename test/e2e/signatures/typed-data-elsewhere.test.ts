import { PassThrough } from 'node:stream'
import { recoverTypedDataAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { outcomeOf } from '../../support/limited-key.ts'
import { DEV_ADDRESSES, type Service, startService } from '../../support/service.ts'

const SHARED_ACCOUNT = 'account shared by EVM networks; use a separate signer for each network'

let nodes: Anvil[]
let service: Service
const lines = new PassThrough()

/** `near` and `far` are the same account on two chains; `alone` is on one. */
beforeAll(async () => {
  nodes = [await startAnvil(), await startAnvil({ args: ['--chain-id', '1'] })]
  const [near = '', far = ''] = nodes.map(({ url }) => url)
  const one = { type: 'evm', network: 'one', chain_id: 1, symbol: 'ETH', features: ['eip1559'] }
  const policies = { wallet_rpc: true }
  service = await startService({
    rpcUrls: [near],
    networks: [
      { ...one, is_testnet: false, average_blocktime_ms: 200, required_confirmations: 1, rpc_urls: [far] },
    ],
    relayers: [
      { id: 'near', name: 'Near', signer_id: 'dev-0', ...ON_ANVIL, policies, api_may_relax: true },
      { id: 'strict', name: 'Strict', signer_id: 'dev-1', ...ON_ANVIL, policies },
      { id: 'far', name: 'Far', signer_id: 'dev-0', ...ON_ANVIL, network: 'one', api_may_relax: true },
    ],
    log: createLogger({ level: 'warn' }, lines),
  })
}, 60_000)
afterAll(async () => {
  await service.stop()
  for (const node of nodes) await node.stop()
})

const DOMAIN = { name: 'USD Coin', version: '2', verifyingContract: `0x${'a0'.repeat(20)}` } as const
const CONTENT = {
  types: {
    Permit: [
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
  },
  primaryType: 'Permit',
  message: { spender: DEV_ADDRESSES[1], value: '5' },
} as const
const HASHES = { domain_separator: 'ab'.repeat(32), hash_struct_message: 'cd'.repeat(32) }
const WITHOUT_CHAIN = { domain: DOMAIN, ...CONTENT }
const permit = (chainId: number | string) => ({ domain: { ...DOMAIN, chainId }, ...CONTENT })

type Call = <Data = unknown>(path: string, body: object) => ReturnType<typeof service.api<Data>>

const asRoot: Call = (path, body) => service.api('POST', path, body)
const signBy = (call: Call, relayer: string, body: object) =>
  call<Schemas['Signature']>(`/relayers/${relayer}/sign-typed-data`, body)
const sign = (body: object, relayer = 'near') => signBy(asRoot, relayer, body)

async function keyFor(limits: object): Promise<Call> {
  const asked = { name: 'Limited', scopes: ['sign', 'rpc'], ...limits }
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', asked)
  const authorization = `Bearer ${body.data.secret}`
  return (path, content) => service.api('POST', path, content, { authorization })
}

async function setPolicies(relayer: string, policies: object): Promise<string> {
  return outcomeOf(await service.api('PATCH', `/relayers/${relayer}`, { policies }))
}

async function withPolicy(chainIds: readonly string[], story: () => Promise<void>, relayer = 'near') {
  expect(await setPolicies(relayer, { typed_data_chain_ids: chainIds })).toBe('200')
  await story()
  expect(await setPolicies(relayer, { typed_data_chain_ids: null })).toBe('200')
}

async function expectMismatch(answer: ReturnType<typeof sign>, ...parts: string[]): Promise<void> {
  const { status, body } = await answer
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'chain_id_mismatch' })
  for (const part of parts) expect(body.error).toContain(part)
}

describe('typed data for another chain', () => {
  test('is refused unless the policy names it, and then verifies there', async () => {
    for (const chainId of [1, '1', '0x1'])
      await expectMismatch(
        sign(permit(chainId)),
        'body.domain.chainId: relayer near is on chain 31337, not 1',
        'add "1" or "*" to the policy typed_data_chain_ids',
      )
    await withPolicy(['1337'], () => expectMismatch(sign(permit(1)), 'not 1'))
    await withPolicy(['1'], async () => {
      const { status, body } = await sign(permit(1))
      expect(status).toBe(200)
      const signed = { ...permit(1), message: { ...CONTENT.message, value: 5n } }
      const signature = `0x${body.data.sig}` as const
      const address = await recoverTypedDataAddress({
        ...signed,
        domain: { ...DOMAIN, chainId: 1 },
        signature,
      })
      expect(address).toBe(DEV_ADDRESSES[0])
      await expectMismatch(sign(permit(5)), 'not 5')
    })
  })

  test('of its own chain is signed in any notation', async () => {
    for (const chainId of [31337, '31337', '0x7a69']) expect((await sign(permit(chainId))).status).toBe(200)
  })

  test('needs the policy of the operator, which callers cannot widen', async () => {
    expect(await setPolicies('strict', { typed_data_chain_ids: ['1'] })).toBe('400 policy_beyond_ceiling')
    expect(await setPolicies('near', { typed_data_chain_ids: ['one'] })).toBe('400 invalid_request')
    await expectMismatch(sign(permit(1), 'strict'))
  })

  test('does not pass by a chainId that nothing signs', async () => {
    const withType = (type: string, chainId: unknown) => ({
      ...permit(31337),
      domain: { name: 'Token', chainId },
      types: {
        ...CONTENT.types,
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'chainId', type },
        ],
      },
    })
    expect((await sign(withType('uint256', 31337))).status).toBe(200)
    await expectMismatch(sign(withType('string', '31337')), 'body.domain')
    const unsigned = {
      ...permit(31337),
      types: { ...CONTENT.types, EIP712Domain: [{ name: 'name', type: 'string' }] },
    }
    await expectMismatch(sign(unsigned), 'body.domain')
  })

  test('that is malformed names the field', async () => {
    const answer = await sign(permit('near'))
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toContain('body.domain.chainId')
  })
})

describe('typed data that names no chain', () => {
  test.each([
    ['hashes', HASHES, 'body.domain_separator'],
    ['a domain without chainId', WITHOUT_CHAIN, 'body.domain'],
  ])(
    '(%s) is signed where the account is on one chain, and elsewhere by the policy',
    async (_n, body, field) => {
      expect(outcomeOf(await sign(body, 'strict'))).toBe('200')
      await expectMismatch(
        sign(body),
        `${field}: relayer near is on chain 31337`,
        'typed_data_chain_ids of the relayer to ["*"]',
      )
      await withPolicy(['1'], () => expectMismatch(sign(body)))
      await withPolicy(['*'], async () => expect(outcomeOf(await sign(body))).toBe('200'))
    },
  )
})

describe('the other relayer of the account', () => {
  test('has to be visible for the key', async () => {
    const narrow = await keyFor({ relayers: ['near'] })
    const wide = await keyFor({ relayers: ['near', 'far'] })
    await withPolicy(['*'], async () => {
      for (const body of [permit(1), HASHES, WITHOUT_CHAIN]) {
        await expectMismatch(signBy(narrow, 'near', body), "may not sign for the account's")
        expect(outcomeOf(await signBy(wide, 'near', body))).toBe('200')
      }
      expect(outcomeOf(await signBy(narrow, 'near', permit(1337)))).toBe('200')
    })
  })

  test('has to be active, and its rules hold', async () => {
    const pause = (paused: boolean) => service.api('PATCH', '/relayers/far', { paused })
    await withPolicy(['*'], async () => {
      await pause(true)
      for (const body of [permit(1), HASHES]) expect(outcomeOf(await sign(body))).toBe('400 relayer_paused')
      expect(outcomeOf(await sign(permit(31337)))).toBe('200')
      await pause(false)
      expect(await setPolicies('far', { rules: { receivers: [] } })).toBe('200')
      for (const body of [permit(1), WITHOUT_CHAIN])
        expect(outcomeOf(await sign(body))).toBe('400 rule_violated')
      expect(await setPolicies('far', { rules: null })).toBe('200')
      expect(outcomeOf(await sign(permit(1)))).toBe('200')
    })
  })
})

test('a key that is limited to networks signs for these networks only', async () => {
  const near = await keyFor({ networks: ['evm:anvil'] })
  const both = await keyFor({ networks: ['evm:anvil', 'evm:one'] })
  await withPolicy(['*'], async () => {
    expect(outcomeOf(await signBy(near, 'near', permit(31337)))).toBe('200')
    await expectMismatch(signBy(near, 'near', permit(1)), 'none of them has the chain id 1')
    await expectMismatch(signBy(both, 'near', permit(1337)), 'none of them has the chain id 1337')
    expect(outcomeOf(await signBy(both, 'near', permit(1)))).toBe('200')
    for (const relayer of ['near', 'strict'])
      for (const body of [HASHES, WITHOUT_CHAIN])
        await expectMismatch(signBy(both, relayer, body), 'send the whole document with a chainId')
  })
})

test('the wallet endpoint has the same rules, in a batch as well', async () => {
  const call = (id: number, chainId: number) => ({
    id,
    method: 'eth_signTypedData_v4',
    params: [DEV_ADDRESSES[0], JSON.stringify(permit(chainId))],
  })
  const ask = async (caller: Call, body: object) => (await caller('/relayers/near/rpc', body)).body as unknown
  const refused = { error: { code: 4901, data: { code: 'chain_id_mismatch' } } }
  expect(await ask(asRoot, [call(1, 1), call(2, 31337)])).toMatchObject([
    { id: 1, ...refused },
    { id: 2, result: expect.stringMatching(/^0x[0-9a-f]{130}$/) },
  ])
  const narrow = await keyFor({ relayers: ['near'] })
  await withPolicy(['1'], async () => {
    expect(await ask(asRoot, call(3, 1))).toMatchObject({ result: expect.any(String) })
    expect(await ask(narrow, call(4, 1))).toMatchObject(refused)
  })
})

test('the start and a new relayer warn of an account on several networks', async () => {
  const warnings = () =>
    String(lines.read() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === SHARED_ACCOUNT)
  expect(warnings()).toMatchObject([
    { level: 'warn', address: DEV_ADDRESSES[0], relayers: ['far', 'near'], networks: ['anvil', 'one'] },
  ])
  const created = { id: 'new', name: 'New', network: 'one', network_type: 'evm', signer_id: 'dev-1' }
  expect(outcomeOf(await service.api('POST', '/relayers', created))).toBe('201')
  expect(warnings()).toMatchObject([{ address: DEV_ADDRESSES[1], relayers: ['new', 'strict'] }])
})

test('a key that sees a relayer signs for each of its accounts', async () => {
  // Their accounts become those of one relayer.
  for (const id of ['far', 'new']) await service.api('DELETE', `/relayers/${id}`)
  const several = { name: 'Several', network: 'one', network_type: 'evm', signer_id: 'dev-1' }
  const created = await service.api('POST', '/relayers', {
    ...several,
    id: 'several',
    accounts: [{ signer_id: 'dev-1' }, { signer_id: 'dev-0' }],
  })
  expect(created.status, created.body.error).toBe(201)
  const [narrow, wide] = [
    await keyFor({ relayers: ['near'] }),
    await keyFor({ relayers: ['near', 'several'] }),
  ]
  await withPolicy(['*'], async () => {
    await expectMismatch(signBy(narrow, 'near', permit(1)), "may not sign for the account's")
    expect(outcomeOf(await signBy(wide, 'near', permit(1)))).toBe('200')
  })
})
