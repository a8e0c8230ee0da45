import type { EvmPolicies } from '../chains/chain.ts'

/** Policies as jsonb keeps them: amounts are decimal strings, because JSON numbers lose digits. */
interface StoredPolicies extends Omit<EvmPolicies, 'gasPriceCap' | 'minBalance'> {
  readonly gasPriceCap?: string
  readonly minBalance?: string
}

/** The JSON text to store. */
export function encodePolicies(policies: EvmPolicies): string {
  return JSON.stringify(policies, (_key, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/** The parsed jsonb back as policies. */
export function decodePolicies(stored: object): EvmPolicies {
  const { gasPriceCap, minBalance, ...rest } = stored as StoredPolicies
  return {
    ...rest,
    ...(gasPriceCap !== undefined && { gasPriceCap: BigInt(gasPriceCap) }),
    ...(minBalance !== undefined && { minBalance: BigInt(minBalance) }),
  }
}
