import type { Unit } from '../../chains/chain.ts'
import { toInteger } from '../../lib/bigint.ts'
import { type FieldType, oneOf, type Reader, whole } from '../../lib/fields.ts'
import { type Limit, NO_LIMIT } from './limit.ts'

/** The description of one policy. Reading, storing, showing and changing the policy all follow from it. */
export interface Policy<T> {
  /** The name in configuration files, requests and answers. */
  readonly wireName: string
  readonly type: PolicyType<T>
  /**
   * The way in which it limits the relayer, so that callers of the API can only lower what the operator's
   * file says.
   */
  readonly limit: Limit<T> | typeof NO_LIMIT
  /** The unit of a number; absent for everything else. */
  readonly unit?: Unit | 'bytes' | 'seconds' | 'signatures'
  /** The default of the policy; absent if there is no limit, or if the network decides. */
  readonly default?: T
  readonly description: string
}

/**
 * The policies `P` of one network type, each with its description: a missing or an extra one does not
 * compile.
 */
export type PolicyTable<P> = { readonly [Name in keyof P]-?: Policy<Exclude<P[Name], undefined>> }

/** The policies of a table by their wire names. */
export type WirePolicies<T> = {
  readonly [Name in keyof T as T[Name] extends { readonly wireName: infer Wire extends string }
    ? Wire
    : never]?: T[Name] extends { readonly type: PolicyType<infer V> } ? V : never
}

/** Reads the policies of a configuration file or a request. Absent policies stay absent. */
export function readPolicies<P extends object>(table: PolicyTable<P>, policies: Reader): P {
  return collect(table, ({ wireName, type }) => type.read(policies, wireName))
}

/** Writes the policies by their wire names, as a configuration file has them. */
export function writePolicies<P extends object, T extends PolicyTable<P>>(
  table: T & PolicyTable<P>,
  policies: P,
): WirePolicies<T> {
  const written = entriesOf(table).flatMap(([name, { wireName }]) =>
    policies[name] === undefined ? [] : [[wireName, policies[name]]],
  )
  // The table gives each entry its name and its type, which `fromEntries` cannot express.
  return Object.fromEntries(written) as WirePolicies<T>
}

/** A policy that is wider than its ceiling. */
export interface Relaxation {
  readonly name: string
  readonly wireName: string
  /** The values that would do. */
  readonly expected: string
}

/**
 * Returns the limiting policies that are wider than the ceiling. A policy that the ceiling does not have is
 * free, unless absence is strictest.
 */
export function findRelaxations<P extends object>(
  table: PolicyTable<P>,
  policies: P,
  ceiling: P,
): Relaxation[] {
  return entriesOf(table).flatMap(([name, { wireName, limit, default: otherwise }]) => {
    const most: unknown = ceiling[name]
    if (limit === NO_LIMIT) return []
    const value: unknown = policies[name] ?? otherwise
    if (limit.strictestIsAbsent) {
      if (value === undefined || (most !== undefined && limit.isWithin(value, most))) return []
      return [
        { name, wireName, expected: most === undefined ? 'no value is expected' : limit.describe(most) },
      ]
    }
    if (most === undefined || (value !== undefined && limit.isWithin(value, most))) return []
    return [{ name, wireName, expected: limit.describe(most) }]
  })
}

/** Encodes the policies of any network type as JSON text for the database. */
export function encodePolicies(policies: object): string {
  return JSON.stringify(policies, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/**
 * Decodes the parsed JSON of the database.
 * @throws Error for a policy that the table does not describe, and for a value of another type: a policy that
 * is ignored would permit what it forbids
 */
export function decodePolicies<P extends object>(table: PolicyTable<P>, stored: object): P {
  const values = new Map<string, unknown>(Object.entries(stored))
  const decoded = collect(table, ({ type }, name) => {
    const value = values.get(name)
    values.delete(name)
    if (value === undefined) return undefined
    return type.decode(value) ?? fail(`stored policy ${name} has the value ${JSON.stringify(value)}`)
  })
  if (values.size > 0) fail(`stored policies are unknown: ${[...values.keys()].join(', ')}`)
  return decoded
}

function collect<P extends object>(
  table: PolicyTable<P>,
  toValue: (policy: Policy<unknown>, name: string) => unknown,
): P {
  const values = entriesOf(table).map(([name, policy]) => [name, toValue(policy, name)] as const)
  // The table gives each entry its name and its type, which `fromEntries` cannot express.
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as P
}

function entriesOf<P extends object>(table: PolicyTable<P>): [keyof P & string, Policy<unknown>][] {
  return Object.entries(table) as [keyof P & string, Policy<unknown>][]
}

function fail(problem: string): never {
  throw new Error(problem)
}

/** The type of a policy's value: it reads documents of people, and it decodes stored JSON. */
interface PolicyType<T> {
  /** Reads a field of a configuration file or of a request. Returns undefined if the field is absent. */
  read(policies: Reader, field: string): T | undefined
  /** Converts stored JSON to the value. Returns undefined if it is of another type. */
  decode(stored: unknown): T | undefined
}

/** An amount. The database keeps it as a decimal string, because JSON numbers lose digits. */
export function amount(type: FieldType<bigint>): PolicyType<bigint> {
  return {
    read: (policies, field) => policies.find(field, type),
    decode: (stored) => toInteger(stored, true),
  }
}

/** A value that JSON holds as it is. */
export function plain<T>(type: FieldType<T>): PolicyType<T> {
  return { read: (policies, field) => policies.find(field, type), decode: (stored) => type.read(stored) }
}

/** A whole number. A release that narrows the range still reads what an earlier one has stored. */
export function count(min: number, max: number): PolicyType<number> {
  return {
    ...plain(whole(min, max)),
    decode: (stored) => (typeof stored === 'number' && Number.isSafeInteger(stored) ? stored : undefined),
  }
}

/** One of these words. */
export function choice<const T extends string>(...words: readonly [T, ...T[]]): PolicyType<T> {
  return plain(oneOf(...words))
}

/** A list of texts. An empty list differs from an absent one: it allows nothing. */
export function listOf(item: FieldType<string>): PolicyType<readonly string[]> {
  return {
    read: (policies, field) => (policies.raw(field) === undefined ? undefined : policies.list(field, item)),
    decode: (stored) =>
      Array.isArray(stored) && stored.every((text) => typeof text === 'string') ? stored : undefined,
  }
}
