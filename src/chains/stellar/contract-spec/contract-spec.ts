import { decodeStream, ScSpecEntry, type ScSpecTypeDef } from '@stellar/stellar-sdk/xdr'

/** A parameter of a function. */
export interface Parameter {
  readonly name: string
  readonly type: ScSpecTypeDef
}

/** A type that a contract defines: a structure, a union or an enum. */
export type UserType = Extract<
  ScSpecEntry,
  { readonly type: 'scSpecEntryUdtStructV0' | 'scSpecEntryUdtUnionV0' | 'scSpecEntryUdtEnumV0' }
>

/** The functions and types of a contract by their names (CAP-46, SEP-48). */
export interface ContractSpec {
  readonly functions: ReadonlyMap<string, readonly Parameter[]>
  readonly types: ReadonlyMap<string, UserType>
}

/** Reads a specification as the code of a contract holds it; undefined for other bytes. Events and errors are left out. */
export function readContractSpec(bytes: Uint8Array): ContractSpec | undefined {
  const functions = new Map<string, readonly Parameter[]>()
  const types = new Map<string, UserType>()
  try {
    for (const entry of decodeStream(ScSpecEntry, bytes)) {
      if (entry.type === 'scSpecEntryFunctionV0')
        functions.set(
          entry.functionV0.name.toString(),
          entry.functionV0.inputs.map(({ name, type }) => ({ name: name.toString(), type })),
        )
      if (isUserType(entry)) types.set(entry.value.name.toString(), entry)
    }
  } catch {
    return undefined // The SDK throws: not XDR, of another kind, or nested too deep.
  }
  return { functions, types }
}

function isUserType(entry: ScSpecEntry): entry is UserType {
  return (
    entry.type === 'scSpecEntryUdtStructV0' ||
    entry.type === 'scSpecEntryUdtUnionV0' ||
    entry.type === 'scSpecEntryUdtEnumV0'
  )
}
