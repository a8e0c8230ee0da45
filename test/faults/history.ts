import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../support/service.ts'
import { act } from './act.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { planHistory, type Step } from './plan.ts'
import { createRandom } from './random.ts'
import type { Stage } from './stage.ts'
import { examine, settle, takeStock } from './verify.ts'
import { createWeather } from './weather.ts'
import { ACCOUNTS, CONFIRMATIONS, type World } from './world.ts'

export interface HistoryOptions {
  readonly seed: number
  readonly steps: number
  readonly kills: boolean
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
export async function runHistory(world: World, { seed, steps, kills }: HistoryOptions): Promise<History> {
  const random = createRandom(seed)
  const plan = planHistory(random.fork('plan'), {
    steps,
    accounts: ACCOUNTS.length,
    maxDepth: CONFIRMATIONS,
    kills,
  })
  const skies = world.nodes.map((_, index) => createWeather(random.fork(`node ${index}`), CONFIRMATIONS))
  world.nodes.forEach((node, index) => {
    node.fault = ([method = '']) => skies[index]?.faultOf(method) ?? 'pass'
  })
  const before = await takeStock(world)
  const stage: Stage = {
    world,
    ledger: createLedger(),
    setWeather: (weather) => {
      for (const sky of skies) sky.set(weather)
    },
  }
  await play(stage, plan)
  stage.setWeather('calm')
  const settled = await settle(world, before.known)
  const { records, violations } = await examine(stage, before)
  return { seed, plan, ledger: stage.ledger, records, violations: [...settled, ...violations] }
}

async function play(stage: Stage, plan: readonly Step[]): Promise<void> {
  const underWay: Promise<void>[] = []
  for (const step of plan) {
    underWay.push(...(await act(stage, step)))
    await pause(step.pauseMs)
  }
  await Promise.all(underWay)
}
