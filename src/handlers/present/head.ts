import type { Schemas } from '../../contract/operations.ts'
import type { HeadState } from '../../networks/head-age.ts'

/** Converts the newest head of a network to the form of the contract. */
export function presentHead({ number, ageMs, halted }: HeadState): Schemas['NetworkHead'] {
  return { block: number, age_seconds: Math.floor(ageMs / 1_000), halted }
}
