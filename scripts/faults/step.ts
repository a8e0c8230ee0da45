import type { Random } from '../../test/support/random.ts'
import type { HistoryRun } from './history-run.ts'

/** Something that can happen in a history. */
export interface Action {
  /** In one line, for a person who replays it. */
  readonly words: string
  /** Whether it is a call of the API; the others are over before the history goes on. */
  readonly isCall: boolean
  happen(run: HistoryRun): Promise<void>
}

export interface Step {
  readonly action: Action
  /** Whether a call is answered before the history goes on. */
  readonly awaited: boolean
  /** How long nothing happens afterwards, in ms. */
  readonly pauseMs: number
}

/** The steps of a history: the same for the same numbers. */
export function planHistory(random: Random, steps: number, draw: (random: Random) => Action): Step[] {
  return Array.from({ length: steps }, () => ({
    action: draw(random),
    awaited: random.chance(0.5),
    pauseMs: random.chance(0.5) ? 0 : random.int(1, 60),
  }))
}

/** Lets one step happen. Gives what is still under way, where the step does not wait for its answer. */
export async function act(run: HistoryRun, { action, awaited }: Step): Promise<Promise<void>[]> {
  const done = action.happen(run)
  if (action.isCall && !awaited) return [done]
  await done
  return []
}

/** A step in one line. */
export function describeStep({ action, awaited, pauseMs }: Step): string {
  const words = [
    action.words,
    awaited || !action.isCall ? '' : 'not awaited',
    pauseMs === 0 ? '' : `then ${pauseMs} ms`,
  ]
  return words.filter((word) => word !== '').join(' ')
}

/** What is known of an event, in one line. */
export function describeEvent({ is, ...details }: { readonly is: string }): string {
  return [is, ...Object.entries(details).map(([name, value]) => `${name}=${value}`)].join(' ')
}
