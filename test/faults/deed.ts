import type { Random } from './random.ts'
import type { Stage } from './stage.ts'

/** Something that can happen in a history. */
export interface Deed {
  /** In one line, for a person who replays it. */
  readonly words: string
  /** Whether it is a call of the API; the others are over before the history goes on. */
  readonly isCall: boolean
  happen(stage: Stage): Promise<void>
}

export interface Step {
  readonly deed: Deed
  /** Whether a call is answered before the history goes on. */
  readonly awaited: boolean
  /** How long nothing happens afterwards, in ms. */
  readonly pauseMs: number
}

/** The steps of a history: the same for the same numbers. */
export function planHistory(random: Random, steps: number, draw: (random: Random) => Deed): Step[] {
  return Array.from({ length: steps }, () => ({
    deed: draw(random),
    awaited: random.chance(0.5),
    pauseMs: random.chance(0.5) ? 0 : random.int(1, 60),
  }))
}

/** Lets one step happen. Gives what is still under way, where the step does not wait for its answer. */
export async function act(stage: Stage, { deed, awaited }: Step): Promise<Promise<void>[]> {
  const done = deed.happen(stage)
  if (deed.isCall && !awaited) return [done]
  await done
  return []
}

/** A step in one line. */
export function describeStep({ deed, awaited, pauseMs }: Step): string {
  const words = [
    deed.words,
    awaited || !deed.isCall ? '' : 'not awaited',
    pauseMs === 0 ? '' : `then ${pauseMs} ms`,
  ]
  return words.filter((word) => word !== '').join(' ')
}

/** What is known of an event, in one line. */
export function wordsOf({ is, ...details }: { readonly is: string }): string {
  return [is, ...Object.entries(details).map(([name, value]) => `${name}=${value}`)].join(' ')
}
