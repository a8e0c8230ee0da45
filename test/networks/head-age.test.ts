import { describe, expect, test } from 'vitest'
import {
  describeHead,
  haltedAfterMs,
  headAge,
  isBlockLate,
  isHeadStale,
  type SeenHead,
  seeHead,
} from '../../src/networks/head-age.ts'
import type { Network } from '../../src/networks/network.ts'
import { SILENT_NETWORK } from '../transactions/stub-chain.ts'

const STELLAR: Network = {
  type: 'stellar',
  name: 'testnet',
  passphrase: 'Test SDF Network ; September 2015',
  isTestnet: true,
  averageBlocktimeMs: 5_000,
  requiredConfirmations: 0,
  rpcUrls: [],
}
const SEPOLIA: Network = { ...SILENT_NETWORK, chainId: 11_155_111, averageBlocktimeMs: 12_000 }

/** The head after these answers, each a height and its time. */
const headOf = (...answers: readonly (readonly [number, number])[]): SeenHead | undefined =>
  answers.reduce<SeenHead | undefined>((seen, [height, at]) => seeHead(seen, BigInt(height), at), undefined)

describe('the age of a head', () => {
  test.each<[string, readonly (readonly [number, number])[], number, number | undefined]>([
    ['is not known before the first answer', [], 0, undefined],
    ['is 0 at the first answer, however old the block is', [[7, 1_000]], 1_000, 0],
    [
      'lasts to the last answer, because the chain may have gone on since',
      [
        [7, 0],
        [7, 30_000],
      ],
      50_000,
      30_000,
    ],
    [
      'begins again with each block',
      [
        [7, 0],
        [7, 30_000],
        [8, 31_000],
      ],
      31_000,
      0,
    ],
    [
      'is not ended by a node that lags',
      [
        [7, 0],
        [6, 10_000],
        [7, 20_000],
      ],
      20_000,
      20_000,
    ],
    [
      'begins again when a chain was rolled back',
      [
        [7, 0],
        [5, 60_000],
      ],
      60_000,
      0,
    ],
    [
      'is forgotten when no one has asked for long',
      [
        [7, 0],
        [7, 30_000],
      ],
      120_000,
      undefined,
    ],
  ])('%s', (_, answers, now, age) => {
    expect(headAge(headOf(...answers), now)).toBe(age)
  })

  test('tells whether this process has seen a block come', () => {
    expect(headOf([7, 0], [7, 10])?.advanced).toBe(false)
    expect(headOf([7, 0], [8, 10], [8, 20])?.advanced).toBe(true)
  })
})

describe('a network', () => {
  test.each<[string, Network, number | undefined]>([
    ['has halted after 20 block times', SEPOLIA, 240_000],
    ['has not halted before a minute is over', { ...SEPOLIA, averageBlocktimeMs: 200 }, 60_000],
    ['of ledgers has halted like any other', STELLAR, 100_000],
    ['of a developer makes blocks when it has something to do', SILENT_NETWORK, undefined],
    ['of Nitro does so', { ...SEPOLIA, tags: ['arbitrum-based', 'no-mempool'] }, undefined],
    ['that is configured so does so', { ...STELLAR, tags: ['blocks-on-demand'] }, undefined],
  ])('%s', (_, network, limit) => {
    expect(haltedAfterMs(network)).toBe(limit)
    const at = limit ?? 10 ** 9
    expect([at - 1, at, undefined].map((age) => isHeadStale(network, age))).toEqual([
      false,
      limit !== undefined,
      false,
    ])
  })

  test('is described by its number, its age and what that means', () => {
    const seen = headOf([7, 0], [7, 100_000])
    expect(describeHead(STELLAR, seen, 100_001)).toEqual({ number: 7n, ageMs: 100_000, halted: true })
    expect(describeHead(SEPOLIA, seen, 100_001)).toEqual({ number: 7n, ageMs: 100_000, halted: false })
    expect(describeHead(STELLAR, undefined, 0)).toBeUndefined()
  })

  test('owes a block to those who wait after four block times, and ten seconds at least', () => {
    expect([19_999, 20_000].map((age) => isBlockLate(STELLAR, age))).toEqual([false, true])
    expect([9_999, 10_000].map((age) => isBlockLate({ averageBlocktimeMs: 400 }, age))).toEqual([false, true])
  })
})
