import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HistoryRun } from '../../scripts/faults/history-run.ts'
import { createLedger } from '../../scripts/faults/ledger.ts'
import { startTestBed, type TestBed, type TestBedOptions } from '../../scripts/faults/test-bed.ts'
import { compareWithChain, settle, takeBaseline } from '../../scripts/faults/verify.ts'
import { type CrashPoint, crash } from './crash.ts'

export interface CrashSuite {
  readonly startTestChain: TestBedOptions['startTestChain']
  /** The points of each change in their order. Where a call only reads, dying before and after it leaves the same behind. */
  readonly points: Readonly<Record<'send' | 'replace' | 'cancel', readonly CrashPoint[]>>
  /** Once, before all crashes. */
  readonly prepare?: (testBed: TestBed) => Promise<void>
  /** Before each crash; gives how many transactions it sent. */
  readonly before?: (run: HistoryRun) => Promise<number>
}

/** A test for each point at which the process can die. */
export function crashSuite(title: string, { startTestChain, points, prepare, before }: CrashSuite): void {
  const table = (['send', 'replace', 'cancel'] as const).flatMap((change) =>
    points[change].map((point) => ({ change, point, words: `${change}: ${describePoint(point)}` })),
  )

  describe(title, () => {
    let testBed: TestBed

    beforeAll(async () => {
      testBed = await startTestBed({ killable: true, startTestChain })
      await prepare?.(testBed)
    })
    afterAll(() => testBed.stop())

    test.each(table)('$words', async ({ change, point }) => {
      const baseline = await takeBaseline(testBed)
      const run: HistoryRun = { testBed, ledger: createLedger(), setConditions: () => {} }
      const others = (await before?.(run)) ?? 0
      await crash(run, change, point)
      const stuck = await settle(testBed, baseline.known)
      const { records, violations } = await compareWithChain(run, baseline)
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
