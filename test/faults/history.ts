import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../support/service.ts'
import { act, planHistory, type Step } from './deed.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createRandom } from './random.ts'
import type { Stage } from './stage.ts'
import { examine, settle, takeStock } from './verify.ts'
import { createWeather } from './weather.ts'
import type { World } from './world.ts'

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
  const { site } = world
  const plan = planHistory(random.fork('plan'), steps, (numbers) => site.draw(numbers, { kills }))
  const skies = site.nodes.map((_, index) => createWeather(random.fork(`node ${index}`), site.sky))
  site.nodes.forEach((node, index) => {
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

/** How often the time of a hasty site jumps ahead, in ms. */
const JUMP_EVERY_MS = 20

async function play(stage: Stage, plan: readonly Step[]): Promise<void> {
  const { world } = stage
  const ahead = (world.site.haste - 1) * JUMP_EVERY_MS
  const jumping = ahead === 0 ? undefined : setInterval(() => world.advance(ahead), JUMP_EVERY_MS)
  try {
    const underWay: Promise<void>[] = []
    for (const step of plan) {
      underWay.push(...(await act(stage, step)))
      await pause(step.pauseMs)
    }
    await Promise.all(underWay)
  } finally {
    clearInterval(jumping)
  }
}
