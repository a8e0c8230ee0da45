import type { Random } from '../../test/support/random.ts'

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

/** A service that is broken breaks everywhere; more sentences than these help no one. */
const MOST_FINDINGS = 20

/** Counts the checks of a run and collects what failed. */
export interface Tally {
  /** Counts one check, and reports the sentence when it does not hold. */
  check(holds: boolean, finding: () => string): void
  note(line: string): void
  /** True when so much failed that going on tells nothing new. */
  isFull(): boolean
  report(): Report
}

/** Creates an empty one. */
export function createTally(): Tally {
  const findings: string[] = []
  const notes: string[] = []
  let checks = 0
  return {
    check: (holds, finding) => {
      checks += 1
      if (!holds && findings.length < MOST_FINDINGS) findings.push(finding())
    },
    note: (line) => void notes.push(line),
    isFull: () => findings.length >= MOST_FINDINGS,
    report: () => ({ checks, findings, notes }),
  }
}
