import { describe, expect, test } from 'vitest'
import {
  currencyOf,
  formatExact,
  formatGwei,
  formatShort,
  withAmounts,
} from '../../console/src/format/amounts.ts'
import { describeCall } from '../../console/src/format/content.ts'
import { explorerLink } from '../../console/src/format/explorer.ts'
import { indentJson } from '../../console/src/format/indent-json.ts'
import { shorten } from '../../console/src/format/shorten.ts'
import { formatDuration } from '../../console/src/format/times.ts'

describe('amounts', () => {
  test.each([
    [0n, 18, '0'],
    [1n, 18, '0.000000000000000001'],
    [10n ** 18n, 18, '1'],
    [1_234_567_000_000_000_000_000n, 18, '1,234.567'],
    [2n ** 128n, 0, '340,282,366,920,938,463,463,374,607,431,768,211,456'],
    [-15n, 1, '-1.5'],
  ])('%i with %i decimals has every digit', (amount, decimals, text) => {
    expect(formatExact(amount, decimals)).toBe(text)
  })

  test.each([
    [1_999_999_999_999_999_999n, 18, '1.9999…'],
    [138_699_900_000_000n, 18, '0.0001386…'],
    [12_345_678_900_000n, 18, '0.00001234…'],
    [15n, 1, '1.5'],
    [1n, 18, '0.000000000000000001'],
    [1n, 9, '0.000000001'],
    [12_345_000_000_000_000n, 18, '0.01234…'],
    [12_340_000_000_000_000n, 18, '0.01234'],
  ])('%i with %i decimals is cut and never rounded up', (amount, decimals, text) => {
    expect(formatShort(amount, decimals)).toBe(text)
  })

  test('prices are in gwei, and the currency is that of the network', () => {
    expect(formatGwei(1_500_000_000n)).toBe('1.5 gwei')
    expect(currencyOf('evm', 'POL')).toEqual({ symbol: 'POL', decimals: 18 })
    expect(currencyOf('stellar').decimals).toBe(7)
  })
})

test.each([
  [-5, '0 s'],
  [999, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [7_200_000, '2 h'],
  [90_000_000, '1 d'],
])('%i ms are %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test('a hash is shortened to its ends, and a short id is not', () => {
  expect(shorten(`0x${'ab'.repeat(32)}`)).toBe('0xababab…ababab')
  expect(shorten('main')).toBe('main')
})

test('JSON is indented with every digit, and text stays as it is', () => {
  expect(indentJson('{"a":340282366920938463463,"b":[],"c":{},"d":["x,{y}:\\"z"]}')).toBe(
    '{\n  "a": 340282366920938463463,\n  "b": [],\n  "c": {},\n  "d": [\n    "x,{y}:\\"z"\n  ]\n}',
  )
})

test('sentences about balances have amounts in the unit for people, and prices stay as they are', () => {
  const told = (sentence: string) => withAmounts(sentence, currencyOf('evm', 'ETH'))
  expect(
    told(
      'Rule require_approval.above[0] of API key payouts: a value above 100000000000000000 native on evm:base-2 needs an approval, and this transaction moves 300000000000000000.',
    ),
  ).toBe(
    'Rule require_approval.above[0] of API key payouts: a value above 0.1 ETH on evm:base-2 needs an approval, and this transaction moves 0.3 ETH.',
  )
  expect(
    told(
      'Rule limits[0].fees of relayer main: fees up to 20000000000000000 per day on evm:anvil; 5 is left, and this transaction needs up to 10000000000000000.',
    ),
  ).toBe(
    'Rule limits[0].fees of relayer main: fees up to 0.02 ETH per day on evm:anvil; 0.000000000000000005 ETH is left, and this transaction needs up to 0.01 ETH.',
  )
  // Tokens and numbers of transactions are no amounts of the native currency.
  for (const other of ['value of 0xabc', 'transactions']) {
    const sentence = `Rule limits[1] of API key a: ${other} up to 5 per day on evm:anvil; 5 is left, and this transaction needs up to 6.`
    expect(told(sentence)).toBe(sentence)
  }
  expect(told('The account can spend 20000000000000000 wei; min_balance is 500000000000000001.')).toBe(
    'The account can spend 0.02 ETH; min_balance is 0.500000000000000001 ETH.',
  )
  expect(
    told(
      'The account can spend 5 wei; 0 are reserved for transactions in flight, this one needs up to 1000000000000000000 (value and gas), and min_balance keeps 1.',
    ),
  ).toBe(
    'The account can spend 0.000000000000000005 ETH; 0 ETH are reserved for transactions in flight, this one needs up to 1 ETH (value and gas), and min_balance keeps 0.000000000000000001 ETH.',
  )
  const price = 'It offers 1 wei per gas, less than the 20853974 that the next block asks for.'
  expect(told(price)).toBe(price)
})

describe('links to explorers', () => {
  const on = (network_type: string, url: string) => ({ network_type, explorer_urls: [url] })
  const transaction = { kind: 'transaction', id: 'h/1' } as const

  test.each([
    [on('evm', 'https://etherscan.io'), 'https://etherscan.io/tx/h%2F1'],
    [
      on('stellar', 'https://stellar.expert/explorer/public/'),
      'https://stellar.expert/explorer/public/tx/h%2F1',
    ],
    [
      on('solana', 'https://explorer.solana.com?cluster=testnet'),
      'https://explorer.solana.com/tx/h%2F1?cluster=testnet',
    ],
    [on('evm', 'javascript:alert(1)'), undefined],
    [{ network_type: 'evm' }, undefined],
    [undefined, undefined],
  ])('%o', (network, link) => {
    expect(explorerLink(network, transaction)).toBe(link)
  })

  test('a block is found by its number, and a ledger is one', () => {
    const block = { kind: 'block', id: '21' } as const
    expect(explorerLink(on('evm', 'https://etherscan.io'), block)).toBe('https://etherscan.io/block/21')
    const stellar = on('stellar', 'https://stellar.expert/explorer/public')
    expect(explorerLink(stellar, block)).toBe('https://stellar.expert/explorer/public/ledger/21')
  })
})

describe('calls', () => {
  test('a decoded one has its arguments with their names', () => {
    const call = {
      function: 'pay((address,uint256)[],bool)',
      contract_name: null,
      source: 'registered',
      args: [
        { name: 'payments', type: '(address,uint256)[]', value: [{ to: '0xAb', amount: '255' }] },
        { name: null, type: 'bool', value: true },
      ],
    } as const
    expect(describeCall('0x12345678', call)).toBe('pay(payments: [{to: 0xAb, amount: 255}], true)')
  })

  test('an unknown one has its selector and its length', () => {
    expect(describeCall('0x12345678ff', undefined)).toBe('0x12345678 and 1 bytes')
  })
})
