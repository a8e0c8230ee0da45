import { xdr } from '@stellar/stellar-sdk'

const { ScSpecEntry, ScSpecTypeDef: Type } = xdr

/** A parameter or a field: its name and its type. */
type Named = readonly [name: string, type: xdr.ScSpecTypeDef]

/** An option of a type. */
export const optionOf = (valueType: xdr.ScSpecTypeDef) =>
  Type.scSpecTypeOption(new xdr.ScSpecTypeOption({ valueType }))

/** A vector of a type. */
export const vecOf = (elementType: xdr.ScSpecTypeDef) =>
  Type.scSpecTypeVec(new xdr.ScSpecTypeVec({ elementType }))

/** A map. */
export const mapOf = (keyType: xdr.ScSpecTypeDef, valueType: xdr.ScSpecTypeDef) =>
  Type.scSpecTypeMap(new xdr.ScSpecTypeMap({ keyType, valueType }))

/** A tuple of types. */
export const tupleOf = (...valueTypes: xdr.ScSpecTypeDef[]) =>
  Type.scSpecTypeTuple(new xdr.ScSpecTypeTuple({ valueTypes }))

/** A result with an error. */
export const resultOf = (okType: xdr.ScSpecTypeDef) =>
  Type.scSpecTypeResult(new xdr.ScSpecTypeResult({ okType, errorType: Type.scSpecTypeError() }))

/** A type that the contract defines. */
export const userType = (name: string) => Type.scSpecTypeUdt(new xdr.ScSpecTypeUdt({ name }))

/** A function of the specification. */
export function functionSpec(name: string, inputs: readonly Named[]): xdr.ScSpecEntry {
  return ScSpecEntry.scSpecEntryFunctionV0(
    new xdr.ScSpecFunctionV0({
      doc: '',
      name,
      inputs: inputs.map(([input, type]) => new xdr.ScSpecFunctionInputV0({ doc: '', name: input, type })),
      outputs: [],
    }),
  )
}

/** A structure of the specification. */
export function structSpec(name: string, fields: readonly Named[]): xdr.ScSpecEntry {
  return ScSpecEntry.scSpecEntryUdtStructV0(
    new xdr.ScSpecUdtStructV0({
      doc: '',
      lib: '',
      name,
      fields: fields.map(([field, type]) => new xdr.ScSpecUdtStructFieldV0({ doc: '', name: field, type })),
    }),
  )
}

/** An enum of the specification. */
export function enumSpec(name: string, cases: Readonly<Record<string, number>>): xdr.ScSpecEntry {
  return ScSpecEntry.scSpecEntryUdtEnumV0(
    new xdr.ScSpecUdtEnumV0({
      doc: '',
      lib: '',
      name,
      cases: Object.entries(cases).map(
        ([one, value]) => new xdr.ScSpecUdtEnumCaseV0({ doc: '', name: one, value }),
      ),
    }),
  )
}

/** A union of the specification; a case without types has no values. */
export function unionSpec(
  name: string,
  cases: Readonly<Record<string, readonly xdr.ScSpecTypeDef[]>>,
): xdr.ScSpecEntry {
  return ScSpecEntry.scSpecEntryUdtUnionV0(
    new xdr.ScSpecUdtUnionV0({
      doc: '',
      lib: '',
      name,
      cases: Object.entries(cases).map(([one, types]) =>
        types.length === 0
          ? xdr.ScSpecUdtUnionCaseV0.scSpecUdtUnionCaseVoidV0(
              new xdr.ScSpecUdtUnionCaseVoidV0({ doc: '', name: one }),
            )
          : xdr.ScSpecUdtUnionCaseV0.scSpecUdtUnionCaseTupleV0(
              new xdr.ScSpecUdtUnionCaseTupleV0({ doc: '', name: one, type: [...types] }),
            ),
      ),
    }),
  )
}

/** A WebAssembly module with the entries as its specification, and nothing to run. */
export function moduleWith(entries: readonly xdr.ScSpecEntry[]): Buffer {
  const section = Buffer.concat(entries.map((entry) => Buffer.from(entry.toXdr())))
  return moduleWithSection('contractspecv0', section)
}

/** A WebAssembly module with one custom section. */
export function moduleWithSection(name: string, content: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.of(name.length), Buffer.from(name), content])
  return Buffer.concat([Buffer.from('0061736d01000000', 'hex'), Buffer.of(0), leb128(named.length), named])
}

function leb128(value: number): Buffer {
  const rest = Math.floor(value / 128)
  return rest === 0 ? Buffer.of(value) : Buffer.concat([Buffer.of((value % 128) + 128), leb128(rest)])
}
