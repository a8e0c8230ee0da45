import type { Schemas } from '../contract/operations.ts'

/** A right to call operations. The contract describes each, and names for every operation the one that it needs. */
export type Scope = Schemas['Scope']

/**
 * The scopes of the whole deployment. They cannot be limited to relayers or networks: a signer, a webhook or an endpoint is shared, and
 * whoever may create a relayer may use every signer.
 */
const OF_THE_DEPLOYMENT: ReadonlySet<Scope> = new Set([
  'relayers:admin',
  'signers:read',
  'signers:admin',
  'networks:admin',
  'notifications:write',
  'audit:read',
  'api-keys:read',
  'api-keys:admin',
])

/** Lists those of the scopes that cannot be limited to relayers or networks. */
export function deploymentScopes(scopes: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => OF_THE_DEPLOYMENT.has(scope))
}
