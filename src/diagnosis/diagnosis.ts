import type { Schemas } from '../contract/operations.ts'

/** Codes of findings, as in the contract. */
export type FindingCode = Schemas['Finding']['code']

/** One reason for the present state of a transaction. */
export interface Finding {
  readonly code: FindingCode
  readonly message: string
}

/** The reasons for the state of a transaction, and the next action of the service. */
export interface Diagnosis {
  /** The most important first; never empty. */
  readonly findings: readonly [Finding, ...Finding[]]
  readonly nextAction: {
    readonly action: Schemas['Diagnosis']['next_action']['action']
    /** Absent when the action happens as soon as possible, or never. */
    readonly at?: Date | undefined
    readonly message: string
  }
}
