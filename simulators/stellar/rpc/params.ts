import { invalidParams } from '../../json-rpc.ts'

/** Named parameters; stellar-rpc takes no others. */
export type Params = Readonly<Record<string, unknown>>

/** A string that must be there. */
export function stringParam(params: Params, name: string): string {
  const value = params[name]
  if (typeof value !== 'string') throw invalidParams(`${name} must be a string`)
  return value
}

/** A list of strings that must be there. */
export function stringsParam(params: Params, name: string): string[] {
  const value = params[name]
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (!isList) throw invalidParams(`${name} must be an array of strings`)
  return value
}

/** A whole number, or nothing. */
export function numberParam(params: Params, name: string): number | undefined {
  const value = params[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(`${name} must be a whole number`)
  }
  return value
}

/** An object, or nothing. */
export function objectParam(params: Params, name: string): Params | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidParams(`${name} must be an object`)
  return value as Params
}

/** Answers are XDR; the JSON form of stellar-rpc is not spoken here. */
export function refuseJsonFormat(params: Params): void {
  const { xdrFormat } = params
  if (xdrFormat !== undefined && xdrFormat !== '' && xdrFormat !== 'base64') {
    throw invalidParams(`xdrFormat ${JSON.stringify(xdrFormat)} is not spoken here`)
  }
}
