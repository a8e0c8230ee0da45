import type { Report } from './attack.ts'

/** A service that is broken breaks everywhere; more sentences than these help nobody. */
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
