import type { Random } from '../../../test/support/random.ts'
import type { Troubles } from '../common-event.ts'

/** A schedule of a history. */
export interface PlannedSchedule {
  readonly everyMinutes: number
  readonly missed: 'skip' | 'once' | 'all'
  readonly overlap: 'skip' | 'allow'
  readonly maxRuns: number | undefined
  /** The most runs of a day that the rules of its API key allow; absent for the key of the environment. */
  readonly maxPerDay: number | undefined
}

/** What happens next. Targets are schedules by their place. */
export type Step =
  /** Minutes pass one after the other, with blocks. */
  | { readonly is: 'pass'; readonly minutes: number; readonly pauseMs: number }
  /** Minutes pass at once: all times of them but the newest are missed. */
  | { readonly is: 'jump'; readonly minutes: number; readonly pauseMs: number }
  | { readonly is: 'kill' | 'restart' }
  /** Every process dies, minutes pass, and they start again. */
  | { readonly is: 'outage'; readonly minutes: number }
  | { readonly is: 'fail_over' }
  | { readonly is: 'pause' | 'resume' | 'change'; readonly target: number; readonly pauseMs: number }

/** They divide an hour, so that their times are those of simple arithmetic. */
const INTERVALS = [1, 1, 1, 2, 5] as const

/** Longer than a process needs to decide what is due. */
const LONGEST_PAUSE_MS = 250

/** Draws the schedules of a history. */
export function drawSchedules(random: Random): PlannedSchedule[] {
  return Array.from({ length: random.int(3, 5) }, (_, index) => {
    const overlap = random.chance(0.7) ? 'allow' : 'skip'
    return {
      everyMinutes: random.pick(INTERVALS),
      // Only what may overlap can catch up with every time.
      missed: overlap === 'allow' ? random.pick(['once', 'all', 'skip']) : random.pick(['once', 'skip']),
      overlap,
      maxRuns: random.chance(0.3) ? random.int(1, 6) : undefined,
      maxPerDay: index === 0 && random.chance(0.4) ? random.int(1, 5) : undefined,
    }
  })
}

/** Draws the steps of a history: time passes and something happens in turn, so that it happens while runs are decided. */
export function drawSteps(random: Random, count: number, { kills, failovers }: Troubles): Step[] {
  const troubles = {
    kill: kills ? 6 : 0,
    outage: kills ? 1 : 0,
    restart: 0.5,
    fail_over: failovers ? 2 : 0,
    pause: 1,
    resume: 0.5,
    change: 1,
  }
  return Array.from({ length: count }, (_, index) =>
    drawStep(random, index % 2 === 0 ? random.weighted(TIMES) : random.weighted(troubles)),
  )
}

const TIMES = { pass: 2, jump: 1 }

function drawStep(random: Random, is: Step['is']): Step {
  const pauseMs = random.int(0, LONGEST_PAUSE_MS)
  switch (is) {
    case 'pass':
      return { is, minutes: random.int(1, 3), pauseMs }
    case 'jump':
      return { is, minutes: random.int(1, 12), pauseMs }
    case 'outage':
      return { is, minutes: random.int(1, 30) }
    case 'pause':
    case 'resume':
    case 'change':
      return { is, target: random.int(0, 3), pauseMs }
    default:
      return { is }
  }
}

/** Says a step in a line. */
export function describeStep({ is, ...more }: Step): string {
  const numbers = Object.entries(more).map(([name, value]) => `${name} ${value}`)
  return [is, ...numbers].join(' ')
}
