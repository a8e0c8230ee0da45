import type { Schemas } from '../../src/contract/operations.ts'

type FieldOf<T> = T extends unknown ? keyof T : never
type ValueOf<T, Field extends PropertyKey> = T extends { readonly [P in Field]?: infer Value } ? Value : never

/** The fields of every member of a union; those that only some have may be absent. */
type Merged<T> = { readonly [Field in keyof T]: T[Field] } & {
  readonly [Field in Exclude<FieldOf<T>, keyof T>]?: ValueOf<T, Field>
}

/** An attempt on any kind of network. */
export type AnyAttempt = Merged<Schemas['EvmAttempt'] | Schemas['StellarAttempt'] | Schemas['SolanaAttempt']>

/** A transaction on any kind of network: a caller that knows which network it asked reads the fields without narrowing. */
export type AnyTransaction = Omit<Merged<Schemas['Transaction']>, 'attempts'> & {
  readonly attempts: readonly AnyAttempt[]
}
