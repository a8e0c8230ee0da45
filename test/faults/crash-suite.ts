import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CrashPoint, crash } from './crash.ts'
import { createLedger } from './ledger.ts'
import type { Stage } from './stage.ts'
import { examine, settle, takeStock } from './verify.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

export interface CrashSuite {
  readonly startSite: WorldOptions['startSite']
  /** The points of each change in their order. Where a call only reads, dying before and after it leaves the same behind. */
  readonly points: Readonly<Record<'send' | 'replace' | 'cancel', readonly CrashPoint[]>>
  /** Once, before all crashes. */
  readonly prepare?: (world: World) => Promise<void>
  /** Before each crash; gives how many transactions it sent. */
  readonly before?: (stage: Stage) => Promise<number>
}

/** A test for each point at which the process can die. */
export function crashSuite(title: string, { startSite, points, prepare, before }: CrashSuite): void {
  const table = (['send', 'replace', 'cancel'] as const).flatMap((change) =>
    points[change].map((point) => ({ change, point, words: `${change}: ${describePoint(point)}` })),
  )

  describe(title, () => {
    let world: World

    beforeAll(async () => {
      world = await startWorld({ killable: true, startSite })
      await prepare?.(world)
    })
    afterAll(() => world.stop())

    test.each(table)('$words', async ({ change, point }) => {
      const stock = await takeStock(world)
      const stage: Stage = { world, ledger: createLedger(), setWeather: () => {} }
      const others = (await before?.(stage)) ?? 0
      await crash(stage, change, point)
      const stuck = await settle(world, stock.known)
      const { records, violations } = await examine(stage, stock)
      expect([...stuck, ...violations]).toEqual([])
      // A request that died unanswered may have been stored or not; never twice.
      expect(records.length).toBeLessThanOrEqual(others + 1)
    })
  })
}

function describePoint(point: CrashPoint): string {
  if (point.at === 'answer') return 'right after the answer'
  if (point.at === 'status') return `as soon as it is ${point.status}`
  const which = 'nth' in point && point.nth !== undefined ? ` for the ${point.nth}. time` : ''
  return `${point.at} the node has done ${point.method}${which}`
}
