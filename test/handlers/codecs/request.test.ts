import { describe, expect, test } from 'vitest'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { loadContract } from '../../../src/contract/document.ts'
import { parseJson } from '../../../src/contract/exact-integers.ts'
import type { Input, Schemas } from '../../../src/contract/operations.ts'
import { createValidator } from '../../../src/contract/validator.ts'
import { readRequest } from '../../../src/handlers/codecs/codecs.ts'
import { mergePatch } from '../../../src/handlers/codecs/relayer.ts'
import { isStellarRequest, readStellarRequest } from '../../../src/handlers/codecs/stellar.ts'
import type { Relayer } from '../../../src/relayers/relayer.ts'
import { chainOf, createStubChain } from '../../transactions/stub-chain.ts'

type Body = Input<'sendTransaction'>['body']

const RELAYER: Relayer = {
  id: 'r1',
  name: 'One',
  network: 'testnet',
  networkType: 'evm',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signerId: 'key',
  paused: false,
  systemDisabled: false,
  policies: {},
}
const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const read = (body: Body) => readRequest(body, RELAYER, chainOf(createStubChain()))

describe('a body of group A', () => {
  test.each([
    { name: 'nothing but a value is fast', body: { value: 1n }, want: { value: 1n, speed: 'fast' } },
    {
      name: 'an address in any case',
      body: { value: 0n, to: TO.toLowerCase() },
      want: { value: 0n, to: TO, speed: 'fast' },
    },
    { name: 'a speed', body: { value: 0n, speed: 'safeLow' }, want: { value: 0n, speed: 'safeLow' } },
    { name: 'a price has no speed', body: { value: 0n, gas_price: 5n }, want: { value: 0n, gasPrice: 5n } },
    {
      name: 'a price of zero is a price',
      body: { value: 0n, gas_price: 0n },
      want: { value: 0n, gasPrice: 0n },
    },
    {
      name: 'both fees',
      body: { value: 0n, max_fee_per_gas: 5n, max_priority_fee_per_gas: 0n },
      want: { value: 0n, maxFeePerGas: 5n, maxPriorityFeePerGas: 0n },
    },
    {
      name: 'a gas limit of null is none',
      body: { value: 0n, gas_limit: null },
      want: { value: 0n, speed: 'fast' },
    },
    {
      name: 'a gas limit',
      body: { value: 0n, gas_limit: 2n ** 63n - 1n },
      want: { value: 0n, gasLimit: 2n ** 63n - 1n, speed: 'fast' },
    },
    {
      name: 'a deadline, in whatever zone',
      body: { value: 0n, valid_until: '2030-01-01T01:00:00+01:00' },
      want: { value: 0n, validUntil: new Date('2030-01-01T00:00:00Z'), speed: 'fast' },
    },
    {
      name: 'the largest value',
      body: { value: 2n ** 128n - 1n, data: '0xff' },
      want: { value: 2n ** 128n - 1n, data: '0xff', speed: 'fast' },
    },
  ] satisfies { name: string; body: Body; want: object }[])('$name', ({ body, want }) => {
    expect(read(body)).toStrictEqual({ type: 'evm', ...want })
  })
})

describe('a body of another group is refused, with the group that it is', () => {
  test.each([
    { body: { transaction: 'AQAB' }, says: 'solana' },
    { body: { network: 'testnet', operations: [] }, says: 'stellar' },
  ])('$says', ({ body, says }) => {
    expect(() => read(body as Body)).toThrow(
      expect.objectContaining({
        code: 'wrong_network_type',
        detail: expect.stringContaining(says),
      }),
    )
  })
})

/** The examples of RFC 7396, appendix A. */
test.each<[unknown, unknown, unknown]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j patched with %j is %j', (target, patch, result) => {
  expect(mergePatch(target, patch)).toEqual(result)
})

test('an integer of any size stays what it is', () => {
  expect(mergePatch({ a: 2n ** 127n }, { b: 2n ** 126n })).toEqual({ a: 2n ** 127n, b: 2n ** 126n })
})

describe('a request on Stellar', async () => {
  const validator = createValidator(await loadContract())
  const ACCOUNT = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
  const CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'
  const MOST = 2n ** 63n - 1n

  /** The request as it comes over the wire, through the contract. */
  function read(text: string) {
    const verdict = validator.request('sendTransaction', {
      path: { relayer_id: 'r' },
      querystring: '',
      body: parseJson(text),
    })
    if (verdict.kind !== 'valid') throw new Error(JSON.stringify(verdict))
    const body = verdict.input.body as Input<'sendTransaction'>['body']
    if (!isStellarRequest(body)) throw new Error('not a body of group C')
    return readStellarRequest(body)
  }

  const withOperation = (text: string) => read(`{"network":"testnet","operations":[${text}]}`).operations?.[0]
  const withMemo = (text: string) => read(`{"network":"testnet","memo":${text}}`).memo

  // Whatever the contract takes as an operation, the domain takes as one; a contract call has its arguments, or names for them.
  type Operation = Schemas['OperationSpec']
  type Call = Extract<Operation, { type: 'invoke_contract' }>
  const operationOf = (
    operation: Exclude<Operation, Call> | (Call & Required<Pick<Call, 'args'>>),
  ): StellarOperation => operation

  describe('a body of group C', () => {
    test('may have null for what is absent', () => {
      const nothing =
        '{"network":"testnet","source_account":null,"operations":null,"transaction_xdr":null,"fee_bump":null,"max_fee":null,"memo":null,"valid_until":null}'
      expect(read(nothing)).toEqual({ type: 'stellar', network: 'testnet' })
      expect(read('{"network":"testnet"}')).toEqual({ type: 'stellar', network: 'testnet' })
    })

    test('is read with every field', () => {
      const body = `{"network":"testnet","source_account":"${ACCOUNT}","transaction_xdr":"AAAA","fee_bump":true,"max_fee":"${MOST}","valid_until":"2030-01-01T01:00:00+01:00"}`
      expect(read(body)).toEqual({
        type: 'stellar',
        network: 'testnet',
        sourceAccount: ACCOUNT,
        transactionXdr: 'AAAA',
        feeBump: true,
        maxFee: MOST,
        validUntil: new Date('2030-01-01T00:00:00Z'),
      })
    })

    test.each([`${MOST}`, `"${MOST}"`])('an amount of %s is exact', (amount) => {
      const payment = `{"type":"payment","destination":"${ACCOUNT}","asset":{"type":"native"},"amount":${amount}}`
      const operation = withOperation(payment)
      expect(operation).toEqual({
        type: 'payment',
        destination: ACCOUNT,
        asset: { type: 'native' },
        amount: MOST,
      })
    })

    test('small integers are as wide as large ones', () => {
      const balance = `{"type":"create_claimable_balance","asset":{"type":"native"},"amount":"1","claimants":[{"destination":"${ACCOUNT}","predicate":{"and":[{"before_absolute_time":5},{"not":{"before_relative_time":"7"}}]}}]}`
      expect(withOperation(balance)).toMatchObject({
        amount: 1n,
        claimants: [
          { predicate: { and: [{ before_absolute_time: 5n }, { not: { before_relative_time: 7n } }] } },
        ],
      })
      expect(withOperation('{"type":"bump_sequence","bump_to":3}')).toEqual({
        type: 'bump_sequence',
        bump_to: 3n,
      })
    })

    test('is read with arguments of smart contracts', () => {
      const args =
        '"void",{"u64":1},{"i64":"-9223372036854775808"},{"u32":7},{"i128":{"hi":-1,"lo":"18446744073709551615"}},{"u256":"5"},{"string":"12"},{"vec":[{"map":[{"key":{"symbol":"k"},"val":{"timepoint":"9"}}]}]}'
      const call = `{"type":"invoke_contract","contract_address":"${CONTRACT}","function_name":"f","args":[${args}]}`
      expect(withOperation(call)).toMatchObject({
        args: [
          'void',
          { u64: 1n },
          { i64: -(2n ** 63n) },
          { u32: 7 },
          { i128: { hi: -1n, lo: 2n ** 64n - 1n } },
          { u256: '5' },
          { string: '12' },
          { vec: [{ map: [{ key: { symbol: 'k' }, val: { timepoint: 9n } }] }] },
        ],
      })
    })

    test.each([
      ['{"type":"none"}', { type: 'none' }],
      ['{"type":"text","value":"123"}', { type: 'text', value: '123' }],
      ['{"type":"id","value":7}', { type: 'id', value: 7n }],
      [`{"type":"id","value":"${MOST}"}`, { type: 'id', value: MOST }],
      [`{"type":"hash","value":"${'ab'.repeat(32)}"}`, { type: 'hash', value: 'ab'.repeat(32) }],
      [`{"type":"return","value":[${Array(32).fill(0)}]}`, { type: 'return', value: Array(32).fill(0) }],
    ])('is read with the memo %s', (text, memo) => {
      expect(withMemo(text)).toEqual(memo)
    })

    test('the contract writes operations as the domain does', () => {
      expect(operationOf({ type: 'bump_sequence', bump_to: 0n }).type).toBe('bump_sequence')
    })
  })
})
