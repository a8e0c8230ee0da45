import { invalidParams } from './provider-rpc-error.ts'

/** Bytes, an address or a quantity as JSON-RPC writes them. */
export type Hex = `0x${string}`

/** The fields of an object of a request. */
export type Fields = Readonly<Record<string, unknown>>

/** @throws ProviderRpcError if the value is no object */
export function readFields(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidParams(`${name}: an object is expected`)
  return value as Fields
}

/** @throws ProviderRpcError if the value is no text */
export function readText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalidParams(`${name}: a string is expected`)
  return value
}

/** @throws ProviderRpcError if the value is there, and is no quantity */
export function readQuantity(value: unknown, name: string): bigint | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/i.test(value))
    throw invalidParams(`${name}: a quantity is expected, which is 0x and hexadecimal digits`)
  return BigInt(value)
}

/** @throws ProviderRpcError if the value is there, and no bytes are */
export function readBytes(value: unknown, name: string): Hex | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value))
    throw invalidParams(`${name}: bytes are expected, which are 0x and an even number of hexadecimal digits`)
  return value as Hex
}

/** @throws ProviderRpcError if the value is there, and is no address */
export function readAddress(value: unknown, name: string): Hex | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value))
    throw invalidParams(`${name}: an address is expected, which is 0x and 40 hexadecimal digits`)
  return value as Hex
}

/** Libraries pass fields that they do not use as undefined, as null, or as an empty list. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** Leaves out what is undefined. */
export function omitUndefined<T extends object>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [Name in keyof T]?: Exclude<T[Name], undefined> }
}
