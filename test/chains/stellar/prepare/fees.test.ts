import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { PooledClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import type { StellarDraft, UnixSeconds } from '../../../../src/chains/stellar/content.ts'
import {
  budgetOf,
  chooseBid,
  createMarketWatch,
  MAX_PLAIN_FEE,
  replacementFloor,
  totalFee,
} from '../../../../src/chains/stellar/prepare/fees.ts'
import { createHurriedClock } from '../../../support/clock.ts'
import { accountWith, attemptOf } from '../build.ts'

const draft: StellarDraft = {
  type: 'stellar',
  envelope: '',
  externallySigned: false,
  feePerOperation: 100n,
  operationCount: 2,
  resourceFee: 7n,
  bumped: false,
  spends: 0n,
  maxFee: 1_000_000n,
  preparedAt: 1_700_000_000n as UnixSeconds,
}

describe('the fee of an envelope', () => {
  test('counts a fee bump as one more operation (CAP-15)', () => {
    expect(totalFee(draft, false)).toBe(207n)
    expect(totalFee(draft, true)).toBe(307n)
  })
})

describe('the budget', () => {
  test.each([
    [undefined, undefined, 1_000_000n],
    [undefined, 500n, 500n],
    [undefined, 2_000_000n, 1_000_000n],
    [300n, 500n, 300n],
    [9_000_000n, undefined, 9_000_000n],
  ])('follows a max_fee of %s under a policy of %s', (maxFee, policy, want) => {
    const account = accountWith(policy === undefined ? {} : { maxFee: policy })
    expect(budgetOf(maxFee === undefined ? {} : { maxFee }, account)).toBe(want)
  })
})

describe('a bid', () => {
  const wish = { market: 100n, least: 100n, operationCount: 1, resourceFee: 0n, maxFee: 1_000_000n }

  test('is the market where the budget allows it', () => {
    expect(chooseBid({ ...wish, market: 250n })).toEqual({ kind: 'bid', feePerOperation: 250n, wanted: 250n })
  })

  test('is what the budget allows below the market', () => {
    expect(chooseBid({ ...wish, market: 10_000n, maxFee: 301n })).toEqual({
      kind: 'bid',
      feePerOperation: 150n,
      wanted: 10_000n,
    })
  })

  test('is short by what the least of it costs', () => {
    expect(chooseBid({ ...wish, maxFee: 199n })).toEqual({ kind: 'short', needed: 200n })
    expect(chooseBid({ ...wish, maxFee: 200n }).kind).toBe('bid')
    expect(chooseBid({ ...wish, resourceFee: 50n, maxFee: 249n })).toEqual({ kind: 'short', needed: 250n })
  })

  test('never costs more than the budget, wrapped or not, and what is said to be needed is enough', () => {
    const amounts = fc.bigInt({ min: 0n, max: 10n ** 12n })
    fc.assert(
      fc.property(
        fc.record({
          market: amounts,
          least: fc.bigInt({ min: 100n, max: 10n ** 7n }),
          operationCount: fc.integer({ min: 1, max: 100 }),
          resourceFee: fc.bigInt({ min: 0n, max: 10n ** 7n }),
          maxFee: fc.bigInt({ min: 1n, max: 10n ** 12n }),
        }),
        (any) => {
          const bid = chooseBid(any)
          if (bid.kind === 'short') {
            expect(bid.needed).toBeGreaterThan(any.maxFee)
            expect(chooseBid({ ...any, maxFee: bid.needed }).kind).toBe('bid')
            expect(chooseBid({ ...any, maxFee: bid.needed - 1n }).kind).toBe('short')
            return
          }
          const { feePerOperation } = bid
          expect(feePerOperation).toBeGreaterThanOrEqual(any.least)
          expect(totalFee({ ...any, feePerOperation }, true)).toBeLessThanOrEqual(any.maxFee)
          expect(totalFee({ ...any, feePerOperation: any.least }, false)).toBeLessThanOrEqual(MAX_PLAIN_FEE)
        },
      ),
    )
  })
})

describe('the replacement of what is in the queue', () => {
  const at = (feePerOperation: bigint, change: Parameters<typeof attemptOf>[1] = {}) =>
    attemptOf({ ...draft, feePerOperation }, change)

  test('bids ten times the highest rate that may be there', () => {
    expect(replacementFloor([at(100n), at(1_000n), at(500n)])).toBe(10_000n)
    expect(replacementFloor([at(100n), at(1_000n, { outcome: 'refused' })])).toBe(1_000n)
    expect(replacementFloor([at(100n, { outcome: 'signed' })])).toBe(1_000n)
  })

  test('has nothing to beat when the queue can have none of it', () => {
    expect(replacementFloor([])).toBeUndefined()
    expect(
      replacementFloor([at(100n, { outcome: 'expired' }), at(100n, { outcome: 'superseded' })]),
    ).toBeUndefined()
  })
})

describe('the market', () => {
  const FRESH_MS = 3_000

  let fees = { p90: '100' }
  let closeTime: unknown = '1000'
  let asked = 0

  afterEach(() => {
    fees = { p90: '100' }
    closeTime = '1000'
    asked = 0
  })

  function watch() {
    const reply = (result: unknown): RpcReply => ({ kind: 'result', result })
    const client = {
      states: () => [{ url: 'http://node', healthy: true }],
      sendAsOf: () => {
        asked += 1
        const replies = [
          reply({ inclusionFee: fees, sorobanInclusionFee: { p90: '0' } }),
          reply({ latestLedgerCloseTime: closeTime }),
        ]
        return Promise.resolve(replies.map((one) => ({ reply: one, behind: false, head: 1n })))
      },
    } as unknown as PooledClient
    const clock = createHurriedClock()
    return { clock, ...createMarketWatch({ client, clock, freshForMs: FRESH_MS }) }
  }

  const FIRST = { kind: 'ok', value: { classic: 100n, soroban: 100n, closeTime: 1_000n } }

  test('is asked once for each ledger, however many want to know', async () => {
    const { market, sawLedger } = watch()
    expect(await Promise.all([market(), market()])).toEqual([FIRST, FIRST])
    sawLedger(1_000n as UnixSeconds)
    await market()
    expect(asked).toBe(1)
    sawLedger(1_005n as UnixSeconds)
    await market()
    expect(asked).toBe(2)
  })

  test('is asked again after a while, when no ledger is announced', async () => {
    const { market, clock } = watch()
    await market()
    await clock.sleep(FRESH_MS)
    await market()
    expect(asked).toBe(2)
  })

  test.each([
    ['0', 100n],
    ['99', 100n],
    ['100', 100n],
    ['101', 202n],
    ['250000', 500_000n],
  ])('ledgers that charged %s: %s is bid', async (p90, classic) => {
    fees = { p90 }
    expect(await watch().market()).toMatchObject({ kind: 'ok', value: { classic } })
  })

  test('what cannot be read is unknown, and not remembered', async () => {
    const { market } = watch()
    closeTime = {}
    expect(await market()).toMatchObject({ kind: 'unknown' })
    closeTime = '1000'
    expect(await market()).toEqual(FIRST)
  })
})
