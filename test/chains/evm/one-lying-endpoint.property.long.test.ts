import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  behaviour,
  compared,
  comparedWithSilence,
  expectNoHarm,
  expectNothingChanged,
  expectWithinCap,
  NETWORKS,
  startNodes,
} from './lying-endpoint.ts'

startNodes()

const setting = fc.record({
  network: fc.constantFrom(...NETWORKS),
  speed: fc.constantFrom('safeLow' as const, 'fastest' as const),
  told: behaviour,
})

/** The nightly run has more. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 250)

describe('one endpoint that lies about any value, by any factor', () => {
  test('changes nothing of what the other two of three would do', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(setting, fc.integer({ min: 0, max: 2 }), async ({ network, speed, told }, liar) => {
        expectNothingChanged(await compared(3, network, speed, liar, told.as))
      }),
      { numRuns: RUNS },
    )
  })

  test.each(NETWORKS)(
    'changes nothing of what the others would do when it answers nothing, either',
    async (network) => {
      expectNothingChanged(await comparedWithSilence(3, network, 1))
      expectNoHarm(await comparedWithSilence(2, network, 1))
    },
  )

  test('of two raises no price, refuses nothing, and stops nothing', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(setting, fc.integer({ min: 0, max: 1 }), async ({ network, speed, told }, liar) => {
        expectNoHarm(await compared(2, network, speed, liar, told.as))
      }),
      { numRuns: RUNS },
    )
  })

  test('alone is bounded by the cap of a fee', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(setting, async ({ network, speed, told }) => {
        expectWithinCap(await compared(1, network, speed, 0, told.as))
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    )
  })
})
