import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../../test/support/random.ts'
import type { Transaction } from '../../test/support/service.ts'
import type { Troubles } from './common-event.ts'
import { createConditions } from './conditions.ts'
import type { HistoryRun } from './history-run.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { act, planHistory, type Step } from './step.ts'
import type { TestBed } from './test-bed.ts'
import { compareInTheEnd, settle, takeBaseline } from './verify.ts'

export interface HistoryOptions {
  readonly seed: number
  readonly steps: number
  readonly troubles: Troubles
}

/** What happened in one history. */
export interface History {
  readonly seed: number
  readonly plan: readonly Step[]
  readonly ledger: Ledger
  readonly records: readonly Transaction[]
  /** Broken promises; empty when all is well. */
  readonly violations: readonly string[]
}

/** Runs the history of this seed, ends all trouble, waits until everything is final, and compares it with the chain. */
export async function runHistory(
  testBed: TestBed,
  { seed, steps, troubles }: HistoryOptions,
): Promise<History> {
  const random = createRandom(seed)
  const { testChain } = testBed
  const plan = planHistory(random.fork('plan'), steps, (numbers) => testChain.draw(numbers, troubles))
  const skies = testChain.nodes.map((_, index) =>
    createConditions(random.fork(`node ${index}`), testChain.sky),
  )
  testChain.nodes.forEach((node, index) => {
    node.fault = ([method = '']) => skies[index]?.faultOf(method) ?? 'pass'
  })
  await testBed.prepare()
  const before = await takeBaseline(testBed)
  const run: HistoryRun = {
    testBed,
    ledger: createLedger(),
    setConditions: (conditions) => {
      for (const sky of skies) sky.set(conditions)
    },
  }
  await play(run, plan)
  run.setConditions('calm')
  testBed.setClock(0)
  const settled = await settle(testBed, before.known)
  const { records, violations } = await compareInTheEnd(run, before)
  return { seed, plan, ledger: run.ledger, records, violations: [...settled, ...violations] }
}

/** How often the time of a hasty test chain jumps ahead, in ms. */
const JUMP_EVERY_MS = 20

async function play(run: HistoryRun, plan: readonly Step[]): Promise<void> {
  const { testBed } = run
  const ahead = (testBed.testChain.haste - 1) * JUMP_EVERY_MS
  const jumping = ahead === 0 ? undefined : setInterval(() => testBed.advance(ahead), JUMP_EVERY_MS)
  try {
    const underWay: Promise<void>[] = []
    for (const step of plan) {
      underWay.push(...(await act(run, step)))
      await pause(step.pauseMs)
    }
    await Promise.all(underWay)
  } finally {
    clearInterval(jumping)
  }
}
