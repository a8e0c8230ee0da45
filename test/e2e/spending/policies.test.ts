import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { plainSigner, RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const GWEI = 1_000_000_000n
const ETHER = 10n ** 18n
const STRANGER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

let anvil: Anvil
let service: Service

/** Each relayer has one rule to test; a signer serves one relayer, so each gets an account of its own. */
const POLICIES = {
  whitelist: { whitelist_receivers: [RECEIVER.toLowerCase()] },
  frugal: { min_balance: '1000000000000000000' },
  'no-estimate': { gas_limit_estimation: false },
  legacy: { eip1559_pricing: false },
  capped: { gas_price_cap: 2_000_000_000 },
  paused: {},
} as const

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  const names = Object.keys(POLICIES) as (keyof typeof POLICIES)[]
  const keys = names.map((_, index) => `0x${String(index + 1).padStart(64, '0')}` as const)
  for (const key of keys)
    await anvil.rpc('anvil_setBalance', [privateKeyToAddress(key), `0x${(10n * ETHER).toString(16)}`])
  service = await startService({
    rpcUrls: [anvil.url],
    signers: names.map((id, index) => plainSigner(id, keys[index] ?? '')),
    relayers: names.map((id) => ({
      id,
      name: id,
      network: 'anvil',
      network_type: 'evm',
      paused: id === 'paused',
      signer_id: id,
      policies: POLICIES[id],
    })),
  })
})
afterAll(async () => {
  await service.stop()
  await anvil.stop()
})

const send = (relayer: keyof typeof POLICIES, body: object) =>
  service.api('POST', `/relayers/${relayer}/transactions`, body)

describe('whitelist_receivers', () => {
  test.each([
    ['a listed receiver, in another letter case', { to: RECEIVER, value: 1 }, 200, undefined],
    ['the zero address', { to: `0x${'0'.repeat(40)}`, value: 1 }, 200, undefined],
    ['a stranger', { to: STRANGER, value: 1 }, 400, 'receiver_not_whitelisted'],
    ['a contract creation', { value: 0, data: '0x00' }, 400, 'receiver_not_whitelisted'],
  ])('%s', async (_name, body, status, code) => {
    const answer = await send('whitelist', body)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code })
  })
})

describe('min_balance', () => {
  // Money that a block has just taken counts as in flight, too, until the service has seen the block.
  beforeAll(() => anvil.rpc('evm_setIntervalMining', [0]))
  afterAll(() => anvil.rpc('evm_setIntervalMining', [1]))

  test('value, gas and everything in flight are counted', async () => {
    const price = { gas_price: String(2n * GWEI), gas_limit: 21_000 }
    const first = await send('frugal', { to: RECEIVER, value: String(5n * ETHER), ...price })
    expect(first.status).toBe(200)
    const second = await send('frugal', { to: RECEIVER, value: String(4n * ETHER), ...price })
    expect({ status: second.status, code: second.body.code }).toEqual({
      status: 400,
      code: 'insufficient_balance',
    })
    const gas = 21_000n * 2n * GWEI
    const rest = String(4n * ETHER - 2n * gas)
    expect((await send('frugal', { to: RECEIVER, value: rest, ...price })).status).toBe(200)
    expect((await send('frugal', { to: RECEIVER, value: 0, ...price })).body.code).toBe(
      'insufficient_balance',
    )
  })

  test('requests that arrive together cannot all count on the same money', async () => {
    const body = { to: RECEIVER, value: String(4n * ETHER), gas_price: String(2n * GWEI), gas_limit: 21_000 }
    const answers = await Promise.all(Array.from({ length: 6 }, () => send('no-estimate', body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400, 400, 400])
  })
})

describe('gas', () => {
  test.each([
    ['absent without estimation', 'no-estimate', { to: RECEIVER, value: 1 }, 'gas_limit_required'],
    [
      'one below the intrinsic gas',
      'legacy',
      { to: RECEIVER, value: 1, gas_limit: 20_999 },
      'gas_limit_too_low',
    ],
    [
      'more than a block',
      'legacy',
      { to: RECEIVER, value: 1, gas_limit: 10_000_000_000 },
      'gas_limit_too_high',
    ],
  ] as const)('%s is refused', async (_name, relayer, body, code) => {
    const answer = await send(relayer, body)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code })
  })
})

describe('pricing', () => {
  test('eip1559_pricing false makes a speed legacy', async () => {
    const { body } = await send('legacy', { to: RECEIVER, value: 1, speed: 'fastest' })
    const path = `/relayers/legacy/transactions/${body.data.id}`
    const final = await until(
      () => service.api('GET', path),
      (seen) => seen.body.data.status === 'confirmed',
    )
    expect(final.body.data).toMatchObject({
      gas_price: expect.stringMatching(/^\d+$/),
      speed: { level: 'fastest', price_multiplier: 2 },
    })
    expect(final.body.data).not.toHaveProperty('max_fee_per_gas')
  })

  test('a market price above the cap is lowered to it, and metadata.logs says so', async () => {
    const { body } = await send('capped', { to: RECEIVER, value: 1, speed: 'fastest' })
    expect(body.metadata?.logs[0]?.message).toContain('gas_price_cap')
    const path = `/relayers/capped/transactions/${body.data.id}`
    const final = await until(
      () => service.api('GET', path),
      (seen) => seen.body.data.status === 'confirmed',
    )
    expect(final.body.data.max_fee_per_gas).toBe('2000000000')
  })

  test.each([
    ['an explicit price above the cap', { gas_price: 2_000_000_001 }, 'gas_price_above_cap', 'gas_price'],
    ['two kinds of price', { gas_price: 1, speed: 'fast' }, 'invalid_request', 'speed'],
    ['half of a price', { max_fee_per_gas: 1 }, 'invalid_request', 'max_priority_fee_per_gas'],
    [
      'a tip above the fee',
      { max_fee_per_gas: 1, max_priority_fee_per_gas: 2 },
      'invalid_request',
      'max_priority_fee_per_gas',
    ],
    ['a past valid_until', { valid_until: '2020-01-01T00:00:00Z' }, 'valid_until_in_past', 'valid_until'],
  ])('%s is refused and named', async (_name, pricing, code, field) => {
    const { status, body } = await send('capped', { to: RECEIVER, value: 1, ...pricing })
    expect({ status, code: body.code }).toEqual({ status: 400, code })
    expect(body.error).toContain(field)
  })
})

test('a paused relayer signs nothing', async () => {
  for (const [path, payload] of [
    ['transactions', { to: RECEIVER, value: 1 }],
    ['sign', { message: 'x' }],
    ['sign-typed-data', { domain_separator: 'ab'.repeat(32), hash_struct_message: 'cd'.repeat(32) }],
    ['sign-transaction', { to: RECEIVER, value: 1, nonce: 0, gas_limit: 21_000, gas_price: 1 }],
    ['rpc', { method: 'eth_chainId' }],
  ] as const) {
    const { status, body } = await service.api('POST', `/relayers/paused/${path}`, payload)
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'relayer_paused' })
  }
})

test('a paused relayer that can cancel nothing says that it is paused', async () => {
  const { status, body } = await service.api('DELETE', '/relayers/paused/transactions/pending')
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'relayer_paused' })
})

test('bodies of the other groups are refused on an EVM relayer', async () => {
  const stellar = {
    network: 'testnet',
    operations: [{ type: 'payment', destination: STELLAR, asset: { type: 'native' }, amount: 1 }],
  }
  for (const body of [{ transaction: 'AQAB' }, stellar]) {
    const answer = await send('legacy', body)
    expect({ status: answer.status, code: answer.body.code, error: answer.body.error }).toMatchObject({
      status: 400,
      code: 'wrong_network_type',
    })
  }
})

const STELLAR = 'GBRPYHIL2CI3FNQ4BXLFMNDLFJUNPU2HY3ZMFSHONUCEOASW7QC7OX2H'

test('a reverting request is refused immediately, and nothing is stored', async () => {
  // init code: revert(0, 0)
  const { status, body } = await send('legacy', { value: 0, data: '0x60006000fd' })
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'execution_reverted' })
})
