import type { PartialEffects } from '../../join-effects.ts'

/** An instruction with its accounts by address. */
export interface Call {
  readonly program: string
  /** In the order of the instruction; undefined for an account from a table. */
  readonly accounts: readonly (string | undefined)[]
  readonly data: Buffer
}

/** Reads the effects on `address` of an instruction that receives its account; undefined when its bytes do not tell them exactly. */
export type ReadCall = (call: Call, address: string) => PartialEffects | undefined
