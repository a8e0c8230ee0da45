import { type Hex, keccak256, parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, startService } from '../../support/service.ts'

type Signed = Schemas['SignedEvmTransaction']

const GWEI = 1_000_000_000
const PATH = '/relayers/main/sign-transaction'

let story: Scenario

beforeAll(async () => {
  story = await startScenario({
    policies: { gas_price_cap: 100 * GWEI, whitelist_receivers: [RECEIVER.toLowerCase()] },
  })
})
afterAll(() => story.stop())

const sign = (body: object, path = PATH) => story.service.api<Signed>('POST', path, body)

const LEGACY = { to: RECEIVER, value: 5, nonce: 0, gas_limit: 21_000, gas_price: 20 * GWEI }
const PRICED = {
  to: RECEIVER.toLowerCase(),
  value: '5',
  nonce: 1,
  gas_limit: '21000',
  max_fee_per_gas: 20 * GWEI,
  max_priority_fee_per_gas: GWEI,
}

/** As other tools serialize it. */
const rlp = (change: object = {}): Hex =>
  serializeTransaction({
    type: 'eip1559',
    chainId: 31337,
    to: RECEIVER,
    value: 5n,
    nonce: 1,
    gas: 21_000n,
    maxFeePerGas: BigInt(20 * GWEI),
    maxPriorityFeePerGas: BigInt(GWEI),
    ...change,
  })

const encoded = (change: object = {}) => ({ unsigned_transaction: rlp(change) })

describe('POST …/sign-transaction', () => {
  test.each([
    ['a legacy price', LEGACY, 'legacy'],
    ['EIP-1559 prices', PRICED, 'eip1559'],
  ])('fields with %s become what they say, signed by the account', async (_name, body, type) => {
    const { status, body: answer } = await sign(body)
    expect({ status, error: answer.error }).toEqual({ status: 200, error: undefined })
    const raw = answer.data.signed_transaction as Hex
    const parsed = parseTransaction(raw)
    expect(parsed).toMatchObject({ type, chainId: 31337, value: 5n, gas: 21_000n })
    expect(parsed.nonce ?? 0).toBe(body.nonce)
    expect(answer.data.hash).toBe(keccak256(raw))
    expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
      DEV_ADDRESSES[0],
    )
  })

  test('RLP and the fields of it give the same bytes', async () => {
    const [one, other] = [await sign(encoded()), await sign(PRICED)]
    expect(one.status).toBe(200)
    expect(one.body.data).toEqual(other.body.data)
  })

  test('a node takes the bytes, and the numbering of the service is untouched', async () => {
    const { body } = await sign({ ...LEGACY, nonce: 1, value: 6 })
    const sent = await story.send({ to: RECEIVER, value: 7 })
    const { nonce } = await story.reach(sent.id, 'submitted')
    expect(Number(nonce)).toBe(0)
    const { data } = body
    expect(await story.anvil.rpc('eth_sendRawTransaction', [data.signed_transaction])).toBe(data.hash)
    await story.settle()
    expect(await story.minedHash(DEV_ADDRESSES[0], 1)).toBe(data.hash)
  })

  test('nothing of it is stored', async () => {
    const count = async () =>
      (await story.service.api('GET', '/relayers/main/transactions?per_page=0')).body.pagination?.total_items
    const before = await count()
    await sign(PRICED)
    expect(await count()).toBe(before)
  })

  test.each<[string, object, string, string]>([
    ['a price above the cap', { ...LEGACY, gas_price: 101 * GWEI }, 'gas_price_above_cap', 'gas_price'],
    [
      'the same in RLP',
      encoded({ maxFeePerGas: BigInt(101 * GWEI) }),
      'gas_price_above_cap',
      'max_fee_per_gas',
    ],
    ['a stranger', { ...LEGACY, to: DEV_ADDRESSES[1] }, 'receiver_not_whitelisted', 'to'],
    ['the same in RLP', encoded({ to: DEV_ADDRESSES[1] }), 'receiver_not_whitelisted', 'to'],
    [
      'a creation',
      { ...LEGACY, to: null, data: '0x00', gas_limit: 100_000 },
      'receiver_not_whitelisted',
      'to',
    ],
    ['more than there is', { ...LEGACY, value: String(10n ** 30n) }, 'insufficient_balance', 'spend'],
    ['too little gas', { ...LEGACY, gas_limit: 11_999 }, 'gas_limit_too_low', 'gas_limit'],
    ['no price', { to: RECEIVER, value: 1, nonce: 0, gas_limit: 21_000 }, 'invalid_request', 'gas_price'],
    ['half a price', { ...PRICED, max_fee_per_gas: undefined }, 'invalid_request', 'max_fee_per_gas'],
    ['no nonce', { ...LEGACY, nonce: undefined }, 'invalid_request', 'body.nonce'],
    ['a nonce that no number holds', { ...LEGACY, nonce: '9007199254740993' }, 'invalid_request', 'nonce'],
    ['no gas', { ...LEGACY, gas_limit: undefined }, 'invalid_request', 'body.gas_limit'],
    ['a speed', { ...LEGACY, speed: 'fast' }, 'invalid_request', 'body.speed'],
    ['another chain', encoded({ chainId: 1 }), 'invalid_request', 'chain id'],
    [
      'no chain',
      encoded({
        type: 'legacy',
        chainId: undefined,
        gasPrice: 1n,
        maxFeePerGas: undefined,
        maxPriorityFeePerGas: undefined,
      }),
      'invalid_request',
      'chain id',
    ],
    [
      'an access list',
      encoded({ accessList: [{ address: RECEIVER, storageKeys: [] }] }),
      'not_supported',
      'access list',
    ],
    [
      'hexadecimal that is no RLP',
      { unsigned_transaction: '0xdeadbeef' },
      'invalid_request',
      'unsigned_transaction',
    ],
    ['half a byte', { unsigned_transaction: '0x0' }, 'invalid_request', 'body.unsigned_transaction'],
    ['no hexadecimal', { unsigned_transaction: 'xyz' }, 'invalid_request', 'body.unsigned_transaction'],
    [
      'bytes behind the end',
      { unsigned_transaction: `${rlp()}00` },
      'invalid_request',
      'unsigned_transaction',
    ],
    [
      'a Stellar envelope',
      { unsigned_xdr: 'AAAA' },
      'wrong_network_type',
      'unsigned_xdr is for networks of type stellar',
    ],
    [
      'a Solana transaction',
      { transaction: 'AQAAAA==' },
      'wrong_network_type',
      'The field transaction is for networks of type solana. Relayer main is on a network of type evm: send unsigned_transaction (0x and the RLP), or value with nonce, gas_limit and a price.',
    ],
    [
      'an EVM transaction in the field of Solana',
      { transaction: `${rlp()}0` },
      'invalid_request',
      'body.transaction: expected a Solana transaction, in base64',
    ],
    ['nothing', {}, 'invalid_request', 'body.'],
  ])('%s is refused and named', async (_name, body, code, words) => {
    const answer = await sign(body)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code })
    expect(answer.body.error).toContain(words)
  })

  test('a signed transaction is refused', async () => {
    const { body } = await sign(PRICED)
    const answer = await sign({ unsigned_transaction: body.data.signed_transaction })
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 400,
      code: 'invalid_request',
    })
    expect(answer.body.error).toContain('signed already')
  })

  test('an unknown relayer is Not found', async () => {
    expect((await sign(LEGACY, '/relayers/nobody/sign-transaction')).body.code).toBe('relayer_not_found')
  })
})

test('when no node can tell of the money, nothing is signed', async () => {
  const alone = await startService({ rpcUrls: ['http://127.0.0.1:9'] })
  try {
    const { status, body } = await alone.api('POST', PATH, LEGACY)
    expect({ status, code: body.code }).toEqual({ status: 500, code: 'network_unavailable' })
  } finally {
    await alone.stop()
  }
})
