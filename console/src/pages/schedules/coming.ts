import type { Schemas } from '../../../../clients/typescript/src/index.ts'

type Schedule = Schemas['Schedule']

/** The days of which the page tells what will be sent. */
export const DAYS = 7

/** The most runs of a schedule that the service tells at once. */
export const MOST_RUNS = 100

/** The runs of a schedule in the next days. */
export interface Coming {
  readonly schedule: Schedule
  /** The first of them. */
  readonly first: string
  readonly count: number
  /** There can be more than `count`. */
  readonly isMore: boolean
  /** The most that these runs take from the account, at the prices when one was last priced. */
  readonly cost: bigint | undefined
}

/** Adds up the next runs of a schedule; undefined if none comes in time. */
export function comingOf(schedule: Schedule, times: readonly string[], now: number): Coming | undefined {
  const end = now + DAYS * 86_400_000
  const soon = times.filter((time) => Date.parse(time) <= end)
  const [first] = soon
  if (first === undefined) return undefined
  const { max_cost_per_run: each } = schedule
  const cost = each === undefined ? undefined : BigInt(each) * BigInt(soon.length)
  return { schedule, first, count: soon.length, isMore: soon.length >= MOST_RUNS, cost }
}

/** Returns the type of network whose requests look like the content of a schedule. */
export function networkTypeOf({ transaction }: Schedule): 'evm' | 'stellar' | 'solana' {
  if ('value' in transaction) return 'evm'
  return 'network' in transaction ? 'stellar' : 'solana'
}
