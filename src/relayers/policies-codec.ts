import type { Policies } from '../chains/chain.ts'

/** Policies that are amounts; jsonb keeps them as decimal strings, because JSON numbers lose digits. */
const AMOUNTS: readonly string[] = ['gasPriceCap', 'minBalance', 'maxFee']

/** The JSON text to store. */
export function encodePolicies(policies: Policies): string {
  return JSON.stringify(policies, (_key, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/** The parsed jsonb back as policies. */
export function decodePolicies(stored: object): Policies {
  return Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [name, AMOUNTS.includes(name) ? BigInt(value) : value]),
  )
}
