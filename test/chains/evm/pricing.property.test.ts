import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Fees } from '../../../src/chains/evm/content.ts'
import {
  capped,
  ceilingOf,
  type Market,
  marketFees,
  raisedTo,
  reaches,
  replacementFloor,
} from '../../../src/chains/evm/prepare/fees.ts'
import { createGasLimits } from '../../../src/chains/evm/prepare/node-limits.ts'
import {
  type PrepareContext,
  prepareReplacement,
  prepareSpeedUp,
} from '../../../src/chains/evm/prepare/prepare.ts'
import { createSimulationRefusals } from '../../../src/chains/simulations.ts'
import type { Speed } from '../../../src/chains/speed.ts'
import { createTestClock } from '../../support/clock.ts'
import { accountWith, attemptOf, eip1559, legacy, requestOf } from './build.ts'

const LEVELS = ['safeLow', 'average', 'fast', 'fastest'] as const

const price = fc.bigInt({ min: 0n, max: 2n ** 128n })
const fees: fc.Arbitrary<Fees> = fc.oneof(
  price.map(legacy),
  fc.tuple(price, price).map(([a, b]) => (a > b ? eip1559(a, b) : eip1559(b, a))),
)
const outcome = fc.constantFrom<Attempt['outcome']>('signed', 'broadcast', 'refused')
const attempts = fc
  .array(fc.record({ fees, outcome }), { minLength: 1, maxLength: 6 })
  .map((list) =>
    list.map(({ fees: own, outcome: what }, index) => attemptOf(own, { number: index + 1, outcome: what })),
  )
const market: fc.Arbitrary<Market> = fc
  .record({
    gasPrice: price,
    baseFee: fc.option(price, { nil: undefined }),
    tips: fc.tuple(price, price, price, price),
  })
  .map(({ gasPrice, baseFee, tips }) => {
    const [safeLow = 0n, average = 0n, fast = 0n, fastest = 0n] = [...tips].sort((a, b) => (a < b ? -1 : 1))
    const rest = { gasPrice, blockGasLimit: 30_000_000n, tips: { safeLow, average, fast, fastest } }
    return baseFee === undefined ? rest : { ...rest, baseFee }
  })
const speed = fc.constantFrom<Speed>(...LEVELS)

/** The demand of a node on both fields, written a second time: strictly more, and 110 % without rounding. */
function nodeTakes(next: Fees, old: Fees): boolean {
  const [ceiling, oldCeiling] = [ceilingOf(next), ceilingOf(old)]
  const tip = next.kind === 'legacy' ? next.gasPrice : next.maxPriorityFeePerGas
  const oldTip = old.kind === 'legacy' ? old.gasPrice : old.maxPriorityFeePerGas
  const beats = (a: bigint, b: bigint) => a > b && a * 100n >= b * 110n
  return beats(ceiling, oldCeiling) && beats(tip, oldTip)
}

describe('pricing', () => {
  test('what is raised to the floor beats every attempt that may be in a pool', () => {
    fc.assert(
      fc.property(attempts, fees, (pool, bid) => {
        const floor = replacementFloor(pool)
        const open = pool.filter((attempt) => attempt.outcome !== 'refused')
        if (floor === undefined) return open.length === 0
        const raised = raisedTo(bid, floor)
        return reaches(raised, floor) && open.every((attempt) => nodeTakes(raised, attempt.draft.fees))
      }),
    )
  })

  test('a tip is never above its ceiling, in any result', () => {
    const sane = (result: Fees) =>
      result.kind === 'legacy' || result.maxPriorityFeePerGas <= result.maxFeePerGas
    fc.assert(
      fc.property(attempts, fees, price, market, speed, (pool, bid, cap, now, level) => {
        const floor = replacementFloor(pool)
        return (
          sane(capped(bid, cap)) &&
          sane(marketFees(now, level, { eip1559: true })) &&
          (!floor || sane(raisedTo(bid, floor)))
        )
      }),
    )
  })

  test('never goes above the cap, and changes nothing below it', () => {
    fc.assert(
      fc.property(fees, price, (wanted, cap) => {
        const result = capped(wanted, cap)
        return ceilingOf(result) <= cap && (ceilingOf(wanted) > cap || result === wanted)
      }),
    )
  })

  test('a faster level never bids less', () => {
    fc.assert(
      fc.property(market, fc.boolean(), (now, network) => {
        const bids = LEVELS.map((level) => marketFees(now, level, { eip1559: network }))
        for (const [index, bid] of bids.entries()) {
          const slower = bids[index - 1]
          if (slower) expect(ceilingOf(bid)).toBeGreaterThanOrEqual(ceilingOf(slower))
        }
      }),
    )
  })

  test('a prepared replacement reaches the floor and keeps the cap, or is refused', async () => {
    const client: PrepareContext['client'] = {
      send: async () => [],
      call: async () => ({ kind: 'result', result: '0x5208' }),
      sendEverywhere: async () => [],
      states: () => [],
    }
    await fc.assert(
      fc.asyncProperty(attempts, market, speed, price, async (pool, now, level, gasPriceCap) => {
        const context: PrepareContext = {
          client,
          now: () => 0,
          blocktimeMs: 12_000,
          simulations: createSimulationRefusals(1n, createTestClock()),
          txFeeCap: 2n ** 256n,
          gasLimits: createGasLimits(createTestClock()),
          eip1559: true,
          market: async () => ({ kind: 'ok', value: now }),
        }
        const account = accountWith({ gasPriceCap })
        const answer = await prepareReplacement(context, {
          request: requestOf({ speed: level }),
          attempts: pool,
          account,
        })
        if (answer.kind !== 'ok') {
          expect(answer).toMatchObject({ kind: 'refused', refusal: { code: 'gas_price_above_cap' } })
          return
        }
        const result = answer.value.draft.fees
        const open = pool.filter((attempt) => attempt.outcome !== 'refused')
        expect(ceilingOf(result)).toBeLessThanOrEqual(gasPriceCap)
        expect(open.every((attempt) => nodeTakes(result, attempt.draft.fees))).toBe(true)
      }),
    )
  })

  test('raises of the service end at the limit, whatever the pool holds and however often it is raised', async () => {
    const client: PrepareContext['client'] = {
      send: async () => [],
      call: async () => ({ kind: 'result', result: '0x5208' }),
      sendEverywhere: async () => [],
      states: () => [],
    }
    const multiplier = fc.integer({ min: 1, max: 20 })
    await fc.assert(
      fc.asyncProperty(market, speed, multiplier, async (now, level, feeLimitMultiplier) => {
        const context: PrepareContext = {
          client,
          now: () => 0,
          blocktimeMs: 12_000,
          simulations: createSimulationRefusals(1n, createTestClock()),
          txFeeCap: 2n ** 256n,
          gasLimits: createGasLimits(createTestClock()),
          eip1559: true,
          market: async () => ({ kind: 'ok', value: now }),
        }
        const account = accountWith({ feeLimitMultiplier })
        const { baseFee = 0n } = now
        const asked = marketFees(now, level, { eip1559: true, feeLimitMultiplier })
        const charged = (bid: Fees) =>
          bid.kind === 'legacy' ? bid.gasPrice : baseFee + bid.maxPriorityFeePerGas
        // Where every price is zero, the limit stands for one gwei.
        const unit = (price: bigint) => (price === 0n ? 1_000_000_000n : price)
        const most = BigInt(feeLimitMultiplier)
        const pool = [attemptOf(asked)]
        for (let raises = 0; raises < 60; raises += 1) {
          const answer = await prepareSpeedUp(context, { attempts: pool, level, account })
          if (answer.kind !== 'ok') return
          const bid = answer.value.draft.fees
          expect(ceilingOf(bid)).toBeLessThanOrEqual(most * unit(ceilingOf(asked)))
          expect(charged(bid)).toBeLessThanOrEqual(most * unit(charged(asked)))
          pool.push(attemptOf(bid, { number: pool.length + 1 }))
        }
        // 1.1 to the power of 60 is above 300; only a price of a few wei takes more raises.
        expect(charged(asked) < 1_000n || ceilingOf(asked) < 1_000n).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
