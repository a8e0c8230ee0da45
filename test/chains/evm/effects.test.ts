import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { CONTRACT_CREATION, type Effects } from '../../../src/chains/effects.ts'
import { evmEffects } from '../../../src/chains/evm/effects/effects.ts'
import { allowing, effectsWith } from '../../support/samples.ts'

const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SELF = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const [token, other] = [TOKEN.toLowerCase(), OTHER.toLowerCase()]
const NONE = effectsWith()
const LARGEST = 2n ** 256n - 1n

const effectsOf = (request: { to?: string; value?: bigint; data?: string }) =>
  evmEffects({ type: 'evm', value: 0n, ...request }, SELF)

const called = (selector: string, want: Partial<Effects>) => ({
  ...NONE,
  contracts: [token],
  selectors: [selector],
  ...want,
})
const paid = (value: bigint) => ({ receivers: [other], amounts: [{ asset: token, value }] })
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [OTHER, 5n] })

describe('without data', () => {
  test('the receiver gets the value', () => {
    expect(effectsOf({ to: OTHER, value: 7n })).toEqual({
      ...NONE,
      receivers: [other],
      amounts: [{ asset: 'native', value: 7n }],
    })
  })

  test('someone receives nothing', () => {
    expect(effectsOf({ to: OTHER, data: '0x' })).toEqual({ ...NONE, receivers: [other] })
  })
})

test('the contracts of authorizations count as called, and what they move cannot be decoded', () => {
  const signed = { chainId: 0, nonce: 0n, yParity: 0, r: '0x1', s: '0x1' } as const
  const authorizationList = [{ ...signed, address: TOKEN }]
  const effects = evmEffects({ type: 'evm', to: OTHER, value: 7n, authorizationList }, SELF)
  expect(effects).toEqual({
    ...NONE,
    receivers: [other],
    contracts: [token],
    amounts: [{ asset: 'native', value: 7n }],
    unread: [{ target: token }],
  })
})

test.each([
  { name: 'unknown to the rules', data: '0x12345678' },
  { name: 'of a token', data: transfer },
])(
  'a call of the account itself, $name, is unread for every asset: a delegated account has code',
  ({ data }) => {
    const self = SELF.toLowerCase()
    expect(effectsOf({ to: SELF, value: 1n, data })).toEqual({
      ...NONE,
      receivers: [self],
      contracts: [self],
      selectors: [data.slice(0, 10)],
      amounts: [{ asset: 'native', value: 1n }],
      unread: [{ target: self }],
    })
  },
)

describe('the creation of a contract', () => {
  test('without a value hands nothing to anyone', () => {
    expect(effectsOf({ data: '0x6000' })).toEqual({ ...NONE, contracts: [CONTRACT_CREATION] })
  })

  test('with a value can pass it on to anyone', () => {
    expect(effectsOf({ value: 1n, data: '0x6000' })).toEqual({
      ...NONE,
      receivers: [CONTRACT_CREATION],
      contracts: [CONTRACT_CREATION],
      amounts: [{ asset: 'native', value: 1n }],
    })
  })
})

describe('a call of a token', () => {
  test.each<[string, Hex, Partial<Effects>]>([
    ['transfer', transfer, paid(5n)],
    [
      'approve',
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [OTHER, LARGEST] }),
      allowing(paid(LARGEST)),
    ],
    [
      'transferFrom',
      encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [TOKEN, OTHER, 6n] }),
      paid(6n),
    ],
    ['transfer with bytes behind it', `${transfer}00ff`, paid(5n)],
    ['transfer in upper case', `0x${transfer.slice(2).toUpperCase()}`, paid(5n)],
  ])('%s is read', (_name, data, want) => {
    expect(effectsOf({ to: TOKEN, data })).toEqual(called(data.slice(0, 10).toLowerCase(), want))
  })

  test('a value that goes with it has the contract as its receiver', () => {
    expect(effectsOf({ to: TOKEN, data: transfer, value: 2n })).toEqual(
      called('0xa9059cbb', {
        receivers: [token, other],
        amounts: [
          { asset: 'native', value: 2n },
          { asset: token, value: 5n },
        ],
      }),
    )
  })

  test.each(['0x39509351', '0x', '0xa905', `0x39509351${transfer.slice(10)}`])('%s is not read', (data) => {
    const want = data === '0x' ? { ...NONE, receivers: [token] } : called(data.slice(0, 10), {})
    const unread = data === '0x' ? [] : [{ target: token, asset: token }]
    expect(effectsOf({ to: TOKEN, data })).toEqual({ ...want, unread })
  })

  test.each([transfer.slice(0, -2), transfer.slice(0, 74), transfer.slice(0, 10)])(
    'arguments that are too short are not read, and no list of contracts trusts them: %s',
    (data) => {
      const unread = [{ target: `malformed call of ${token}`, asset: token }]
      expect(effectsOf({ to: TOKEN, data })).toEqual(called('0xa9059cbb', { unread }))
    },
  )
})
