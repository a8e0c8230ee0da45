import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findLowBalances, findUsedBudgets } from '../../src/alerts/findings.ts'
import {
  type EndpointMemory,
  findDownEndpoints,
  findHaltedChains,
  rememberEndpoints,
} from '../../src/alerts/watched-states.ts'
import { NATIVE } from '../../src/chains/effects.ts'
import type { Network } from '../../src/networks/network.ts'
import type { Relayer } from '../../src/relayers/relayer.ts'

const RELAYER: Relayer = {
  id: 'main',
  name: 'Main',
  networkType: 'evm',
  network: 'anvil',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signerId: 'dev',
  notificationId: 'ops',
  paused: false,
  systemDisabled: false,
  policies: { warnBalance: 10n ** 30n },
}

const READING = { relayerId: 'main', network: 'anvil', networkType: 'evm' } as const

const stateAt = (spendable: bigint | undefined, network = 'anvil') =>
  findLowBalances(
    [RELAYER],
    [{ ...READING, network, ...(spendable !== undefined && { spendable }) }],
    () => undefined,
  )[0]?.state

describe('a low balance', () => {
  test.each([
    [10n ** 30n - 1n, 'firing'],
    [10n ** 30n, 'unclear'],
    [11n * 10n ** 29n - 1n, 'unclear'],
    [11n * 10n ** 29n, 'over'],
    [undefined, 'unclear'],
  ])('of %s is %s', (spendable, state) => {
    expect(stateAt(spendable)).toBe(state)
  })

  test('is not known without a reading, or by one of another network', () => {
    expect(findLowBalances([RELAYER], [], () => undefined)[0]?.state).toBe('unclear')
    expect(stateAt(0n, 'sepolia')).toBe('unclear')
  })

  test('is told in coins, or in the smallest unit where no one names the currency', () => {
    const messageWith = (names: ReturnType<Parameters<typeof findLowBalances>[2]>) =>
      findLowBalances([RELAYER], [{ ...READING, spendable: 1_500_000_000_000_000_001n }], () => names)[0]
        ?.detail.message
    expect(messageWith(() => ({ symbol: 'ETH', decimals: 18 }))).toMatch(
      /^Relayer main can spend 1\.500000000000000001 ETH; its warn_balance is 1,000,000,000,000 ETH\./,
    )
    expect(messageWith(undefined)).toContain('can spend 1500000000000000001 wei;')
  })

  test('is not a finding without a policy', () => {
    expect(
      findLowBalances([{ ...RELAYER, policies: {} }], [{ ...READING, spendable: 0n }], () => undefined),
    ).toEqual([])
  })
})

describe('a budget', () => {
  const stateOf = (limit: bigint, value: bigint) =>
    findUsedBudgets(
      [
        {
          spender: { subject: 'relayer:main', rules: {} },
          relayerId: 'main',
          notifications: ['ops'],
          limits: [
            {
              rule: 'limits[0]',
              per: 'day',
              network: 'evm:anvil',
              asset: NATIVE,
              limit: { per: 'day', asset: NATIVE, value: limit },
              spent: { value, fees: 0n, count: 0 },
            },
          ],
        },
      ],
      () => undefined,
    ).map(({ state, detail }) => [state, detail.threshold])

  test('fires from 90 % on and is over below 80 %, exactly', () => {
    expect(stateOf(1000n, 900n)).toEqual([['firing', '900']])
    expect(stateOf(1000n, 899n)).toEqual([['unclear', '900']])
    expect(stateOf(1000n, 800n)).toEqual([['unclear', '900']])
    expect(stateOf(1000n, 799n)).toEqual([['over', '900']])
    expect(stateOf(3n, 3n)).toEqual([['firing', '3']])
  })

  test('of nothing is a rule and no budget', () => {
    expect(stateOf(0n, 0n)).toEqual([])
  })
})

describe('an endpoint', () => {
  const SAMPLE = { network: 'evm:anvil', endpoint: 'https://node.example/***', notifications: ['ops'] }

  test('fires or is over only after 60 s without a change, whatever the samples are', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ wait: fc.integer({ min: 1, max: 40_000 }), isUsable: fc.option(fc.boolean()) }),
          {
            minLength: 1,
          },
        ),
        (steps) => {
          let memory: EndpointMemory = new Map()
          let now = 0
          let period: { readonly isUsable: boolean; readonly since: number } | undefined
          for (const { wait, isUsable } of steps) {
            now += wait
            const samples = [{ ...SAMPLE, isUsable: isUsable ?? undefined }]
            memory = rememberEndpoints(memory, samples, now)
            if (isUsable !== null && period?.isUsable !== isUsable) period = { isUsable, since: now }
            const found = findDownEndpoints({ samples, memory, monotonic: now, now: new Date(now) })
            const settled = period !== undefined && now - period.since >= 60_000
            const expected = !settled ? 'unclear' : period?.isUsable ? 'over' : 'firing'
            expect(found.map(({ state }) => state)).toEqual([expected])
            if (expected === 'firing') expect(found[0]?.since).toEqual(new Date(period?.since ?? 0))
          }
        },
      ),
    )
  })

  test('is forgotten when it is not used', () => {
    const memory = rememberEndpoints(new Map(), [{ ...SAMPLE, isUsable: false }], 0)
    expect(memory.size).toBe(1)
    expect(rememberEndpoints(memory, [], 5_000).size).toBe(0)
  })
})

describe('a network without blocks', () => {
  const NETWORK = {
    type: 'evm',
    name: 'sepolia',
    chainId: 11_155_111,
    symbol: 'ETH',
    txFeeCap: 10n ** 18n,
    isTestnet: true,
    features: [],
    mempool: true,
    averageBlocktimeMs: 12_000,
    requiredConfirmations: 1,
    finality: 'depth',
    rpcUrls: [],
  } as const
  const NOW = new Date('2030-01-01T00:00:00.000Z')
  const findingAt = (ageMs: number | undefined, { advanced = true, network = NETWORK as Network } = {}) => {
    const state = ageMs === undefined ? undefined : { number: 7n, ageMs, halted: ageMs >= 240_000 }
    return findHaltedChains([{ network, state, advanced, notifications: ['ops'] }], NOW)[0]
  }

  test.each<[string, number | undefined, boolean, string]>([
    ['has halted', 240_000, true, 'firing'],
    ['has halted since before this process began', 240_000, false, 'firing'],
    ['goes on', 3_000, true, 'over'],
    ['has not been seen to go on yet, so an alert of an earlier process stays', 3_000, false, 'unclear'],
    ['is silent, which says nothing', undefined, true, 'unclear'],
  ])('%s', (_, ageMs, advanced, state) => {
    expect(findingAt(ageMs, { advanced })?.state).toBe(state)
  })

  test('is told with the number of seconds, the limit, and what to do', () => {
    expect(findingAt(250_900)).toEqual({
      kind: 'chain_halted',
      subject: 'evm:sepolia',
      state: 'firing',
      since: new Date(NOW.getTime() - 250_900),
      notifications: ['ops'],
      detail: {
        message: expect.stringMatching(
          /^Network evm:sepolia has made no block after 7 for 250 s\. .*explorer/,
        ),
        network: 'evm:sepolia',
        value: '250',
        threshold: '240',
      },
    })
  })

  test('is not a finding where blocks come on demand', () => {
    expect(findingAt(10 ** 9, { network: { ...NETWORK, tags: ['blocks-on-demand'] } })).toBeUndefined()
  })
})
