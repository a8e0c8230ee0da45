import type { Random } from '../faults/random.ts'

/** The conditions of one run of an attack. */
export interface AttackContext {
  /** Every choice comes from here, so a seed repeats the run. */
  readonly random: Random
}

/** The result of one run. */
export interface Report {
  /** The number of checks. A run without checks proves nothing. */
  readonly checks: number
  /** One sentence for each promise that the service broke. */
  readonly findings: readonly string[]
  /** Lines that a person wants to read although nothing broke. */
  readonly notes: readonly string[]
}

/** One way to harm the service. It starts the service itself, on loopback, and stops it again. */
export interface Attack {
  /** The name on the command line. */
  readonly name: string
  /** The longest run, in ms. Default: two minutes. */
  readonly deadlineMs?: number
  run(context: AttackContext): Promise<Report>
}
