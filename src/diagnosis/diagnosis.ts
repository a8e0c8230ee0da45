import type { Schemas } from '../contract/operations.ts'

export type FindingCode = Schemas['Finding']['code']

/** One reason why a transaction is where it is. */
export interface Finding {
  readonly code: FindingCode
  readonly message: string
}

/** Why a transaction is where it is, and what happens next. */
export interface Diagnosis {
  /** The most important first; never empty. */
  readonly findings: readonly [Finding, ...Finding[]]
  readonly nextAction: {
    readonly action: Schemas['Diagnosis']['next_action']['action']
    /** Absent for as soon as possible, and for never. */
    readonly at?: Date | undefined
    readonly message: string
  }
}
