import { describe, expect, test } from 'vitest'
import type { Input } from '../../../src/contract/operations.ts'
import { readRequest } from '../../../src/handlers/read/request.ts'
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
