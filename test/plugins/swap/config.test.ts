import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/swap/config.ts'
import {
  decimalOf,
  describeSale,
  leastOf,
  lossBps,
  type Order,
  readOrder,
  worthOf,
} from '../../../plugins/swap/names.ts'

const ADDRESS = `0x${'AB'.repeat(20)}`
const ISSUER = `G${'A'.repeat(55)}`

const fixed = { type: 'fixed', price: '2000' }
const web = { type: 'http', url: 'https://prices.example/eth', pointer: '/price' }
const feed = { address: ADDRESS, max_age_seconds: 3_600 }

const evm = {
  id: 'usdc',
  relayer_id: 'base-1',
  token: ADDRESS,
  decimals: 6,
  router: {
    type: 'uniswap_v3',
    chain_id: 8453,
    address: ADDRESS,
    pool_fee: 500,
    wrapped_coin: `0x${'cd'.repeat(20)}`,
  },
  when: { coin_below: '50000000000000000' },
  most_at_once: '500000000',
  most_a_day: '1000000000',
  price: { sources: [fixed, web] },
}

const { decimals: _, ...common } = evm
const stellar = {
  ...common,
  token: `USDC:${ISSUER}`,
  router: { type: 'stellar_path', network: 'pubnet' },
}

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const PROGRAM = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'
const solana = {
  ...evm,
  token: MINT,
  router: {
    type: 'jupiter',
    network: 'mainnet-beta',
    url: 'https://router.example/swap/v1',
    programs: [PROGRAM],
  },
}

test('Addresses are read in lower case, and what is absent has its default', () => {
  const [swap] = readSettings({ swaps: [evm] }).swaps
  expect(swap).toMatchObject({
    token: ADDRESS.toLowerCase(),
    bandBps: 100n,
    slippageBps: 50n,
    mostCostBps: 300n,
    leastLeft: 0n,
    validSeconds: 300,
    lookedAt: undefined,
  })
  expect(readSettings({ swaps: [stellar] }).swaps[0]).toMatchObject({ token: `USDC:${ISSUER}`, decimals: 7 })
  expect(readSettings({ swaps: [solana] }).swaps[0]).toMatchObject({ token: MINT, router: solana.router })
  expect(readSettings({ swaps: [evm] }).callers.size).toBe(0)
})

test('The configurations of the guide are read', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/swap.md'), 'utf8')
  const [entry, router] = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(
    ([, text = '']) => JSON.parse(text) as object,
  )
  const [{ config } = { config: undefined }] = (entry as { plugins: readonly { config: unknown }[] }).plugins
  expect(readSettings(config).swaps[0]?.sources.map(({ type }) => type)).toEqual(['chainlink', 'http'])
  const [swap] = readSettings({ swaps: [{ ...solana, ...router }] }).swaps
  expect(swap?.router.type).toBe('jupiter')
  expect(swap?.sources.map(({ type }) => type)).toEqual(['fixed', 'http'])
})

describe('A configuration is refused', () => {
  test.each<[string, object, RegExp]>([
    ['without swaps', {}, /config\.swaps: name at least one/],
    ['with two swaps of one id', { swaps: [evm, evm] }, /each id may appear once/],
    ['with a misspelled field', { swaps: [evm], caller: [] }, /config\.caller: unknown field/],
    ['with a caller that is no text', { swaps: [evm], callers: [1] }, /config\.callers/],
    [
      'with a swap that is never due',
      { swaps: [{ ...evm, when: {} }] },
      /when: needs coin_below or token_above/,
    ],
    ['without a ceiling', { swaps: [{ ...evm, most_a_day: undefined }] }, /most_a_day/],
    ['with a number where digits could be lost', { swaps: [{ ...evm, most_at_once: 5 }] }, /most_at_once/],
    ['with one source', { swaps: [{ ...evm, price: { sources: [fixed] } }] }, /expected two/],
    [
      'with two that the operator tells',
      { swaps: [{ ...evm, price: { sources: [fixed, fixed] } }] },
      /different/,
    ],
    [
      'with two that one node tells',
      {
        swaps: [
          {
            ...evm,
            price: {
              sources: [
                { type: 'chainlink', coin: feed, token: feed },
                { type: 'uniswap_v3', pool: ADDRESS, coin: ADDRESS },
              ],
            },
          },
        ],
      },
      /different parties/,
    ],
    ['with a slippage of more than half', { swaps: [{ ...evm, slippage_bps: 5_001 }] }, /slippage_bps/],
    ['with an unknown router', { swaps: [{ ...evm, router: { type: 'other' } }] }, /router/],
    [
      'that sells the wrapped coin',
      { swaps: [{ ...evm, router: { ...evm.router, wrapped_coin: ADDRESS } }] },
      /needs no swap/,
    ],
    [
      'with a feed on Stellar',
      { swaps: [{ ...stellar, price: { sources: [fixed, { type: 'chainlink' }] } }] },
      /type/,
    ],
    ['with an address for a token of Stellar', { swaps: [{ ...stellar, token: ADDRESS }] }, /token/],
    ['with an address of another chain for a mint', { swaps: [{ ...solana, token: ADDRESS }] }, /token/],
    [
      'with a pool as a source on Solana',
      { swaps: [{ ...solana, price: { sources: [fixed, { type: 'uniswap_v3' }] } }] },
      /type/,
    ],
    [
      'that sells wrapped SOL',
      { swaps: [{ ...solana, token: 'So11111111111111111111111111111111111111112' }] },
      /needs no swap/,
    ],
    [
      'with a router without programs',
      { swaps: [{ ...solana, router: { ...solana.router, programs: [] } }] },
      /programs that swap/,
    ],
    [
      'with a program that does whatever it is told',
      {
        swaps: [
          {
            ...solana,
            router: { ...solana.router, programs: ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'] },
          },
        ],
      },
      /programs that swap/,
    ],
    [
      'with a router that is no URL',
      { swaps: [{ ...solana, router: { ...solana.router, url: 'jupiter' } }] },
      /url/,
    ],
    [
      'with a path of something else than assets',
      { swaps: [{ ...stellar, router: { ...stellar.router, path: ['EURC'] } }] },
      /path/,
    ],
  ])('%s', (_, config, message) => {
    expect(() => readSettings(config)).toThrow(message)
  })
})

describe('The terms of a sale', () => {
  const price = { numerator: 2_001n, denominator: 1n }
  const decimals = { token: 6, coin: 18 }

  test('are rounded up, so that no digit is given away', () => {
    const worth = worthOf(1_000_000n, price, decimals)
    expect(worth * 2_001n).toBeGreaterThanOrEqual(10n ** 18n)
    expect((worth - 1n) * 2_001n).toBeLessThan(10n ** 18n)
    expect(leastOf(10_001n, 50n)).toBe(9_951n)
    expect(leastOf(worth, 0n)).toBe(worth)
  })

  test('are in the description of the record, and are read back from it', () => {
    const order: Order = {
      swap: 'usdc',
      amount: 100n,
      token: `USDC:${ISSUER}`,
      least: 49n,
      prices: [
        { source: 'fixed', price: { numerator: 25n, denominator: 10n } },
        { source: 'http', price: { numerator: 3n, denominator: 1n } },
      ],
    }
    const text = describeSale(order)
    expect(text).toBe(
      `Swap usdc: sell 100 of USDC:${ISSUER} for at least 49. Tokens for a coin: fixed 2.5, http 3.`,
    )
    expect(readOrder(text)).toEqual(order)
    expect(readOrder(`${text} `)).toBeUndefined()
    expect(readOrder('Swap usdc: unwrap 5 of it.')).toBeUndefined()
    expect(readOrder(undefined)).toBeUndefined()
  })

  test('tell what was lost in basis points', () => {
    expect(lossBps(10_000n, 9_950n)).toBe(50n)
    expect(lossBps(10_000n, 10_100n)).toBe(-100n)
    expect(lossBps(0n, 5n)).toBe(0n)
    expect(decimalOf({ numerator: 1n, denominator: 3n })).toBe('0.333333333333333333')
  })
})
