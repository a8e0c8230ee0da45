import { stringifyJson } from '../../../clients/typescript/src/exact-json.ts'
import { RelayerApiError } from '../../../clients/typescript/src/index.ts'
import { parseAmount } from '../format/amounts.ts'

/** What is wrong with a field, by the path that the field has in the request. */
export interface FieldFault {
  readonly path: string
  readonly message: string
}

/** A value that the form itself cannot send: the form says so before the API is called. */
export class FieldError extends Error implements FieldFault {
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/**
 * The service begins a sentence about a field with its path: `body.config.key: expected 64 hex digits`, or, where it checks what the configuration
 * file may have as well, `body.policies.rules.receivers[0] must be an address`.
 */
export function faultOf(error: unknown): FieldFault | undefined {
  if (error instanceof FieldError) return error
  if (!(error instanceof RelayerApiError) || error.status !== 400) return undefined
  const [, path, message] =
    /^(?:body\.)?([A-Za-z_][\w.[\]]*): (.+)$/s.exec(error.message) ??
    /^body\.([A-Za-z_][\w.[\]]*) (.+)$/s.exec(error.message) ??
    []
  return path === undefined || message === undefined ? undefined : { path, message }
}

/** What a form has written, by the paths in the request. An empty text stands for an absent field. */
export interface WrittenFields {
  readonly values: Readonly<Record<string, string>>
  /** Returns the text of a field without spaces around it; undefined when it is empty. */
  readonly text: (path: string) => string | undefined
  /** Returns the entries of a field that holds a list: one in each line, or with commas between; undefined when it is empty. */
  readonly list: (path: string) => readonly string[] | undefined
}

/** The fields of a form. */
export interface Fields extends WrittenFields {
  readonly set: (path: string, value: string) => void
}

/** Reads the values of fields. */
export function readFields(values: Readonly<Record<string, string>>): WrittenFields {
  const text = (path: string) => values[path]?.trim() || undefined
  return {
    values,
    text,
    list: (path) => {
      const entries = text(path)
        ?.split(/[\s,]+/)
        .filter(Boolean)
      return entries?.length ? entries : undefined
    },
  }
}

/**
 * Reads an amount that a person has written in the unit for people, as digits of the smallest unit; undefined when there is none.
 * @throws FieldError
 */
export function amountIn(fields: WrittenFields, path: string, decimals: number): string | undefined {
  const text = fields.text(path)
  if (text === undefined) return undefined
  const amount = parseAmount(text, decimals)
  if (typeof amount === 'string') throw new FieldError(path, amount)
  return amount.toString()
}

/** Leaves out the fields that are undefined, which the contract does not take as absent. */
export function withoutEmpty<T extends object>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

/**
 * Makes a merge patch (RFC 7396) of two versions of a record: the fields that differ, and null for those that are gone. What a person has not
 * changed is not sent, so it cannot be refused.
 */
export function changesBetween(before: object, after: object): Record<string, unknown> {
  const old = new Map<string, unknown>(Object.entries(before))
  const current = new Map<string, unknown>(Object.entries(after))
  return Object.fromEntries(
    [...new Set([...old.keys(), ...current.keys()])]
      .filter((name) => stringifyJson(old.get(name) ?? null) !== stringifyJson(current.get(name) ?? null))
      .map((name) => [name, current.get(name) ?? null]),
  )
}

/** A fault of an entry of a list is shown at the field of the list. */
export function isAbout({ path }: FieldFault, field: string): boolean {
  return path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`)
}
