import type { Schemas } from '../contract/operations.ts'

/**
 * A right to call operations. The contract describes each, and names for every operation the one that it
 * needs.
 */
export type Scope = Schemas['Scope']

/** Has a field for each scope, so that one of the contract that is missing here does not compile. */
const ALL: Readonly<Record<Scope, true>> = {
  'relayers:read': true,
  'relayers:write': true,
  'relayers:admin': true,
  'transactions:read': true,
  'transactions:write': true,
  'transactions:approve': true,
  sign: true,
  rpc: true,
  'signers:read': true,
  'signers:admin': true,
  'signers:create-keys': true,
  'networks:read': true,
  'networks:admin': true,
  'notifications:read': true,
  'notifications:write': true,
  'events:read': true,
  'metrics:read': true,
  'audit:read': true,
  'api-keys:read': true,
  'api-keys:admin': true,
  'plugins:read': true,
  'plugins:call': true,
  'plugins:admin': true,
}

/** Every scope, in the order of the contract. */
export const SCOPES = Object.keys(ALL) as readonly Scope[]

/**
 * The scopes of the whole deployment. They cannot be limited to relayers or networks: a signer, a webhook or
 * an endpoint is shared, and a key that may create a relayer may use every signer.
 */
const OF_THE_DEPLOYMENT: ReadonlySet<Scope> = new Set([
  'relayers:admin',
  'signers:read',
  'signers:admin',
  'signers:create-keys',
  'networks:admin',
  'notifications:write',
  'audit:read',
  'api-keys:read',
  'api-keys:admin',
  'plugins:read',
  'plugins:admin',
])

/** Lists those of the scopes that cannot be limited to relayers or networks. */
export function deploymentScopes(scopes: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => OF_THE_DEPLOYMENT.has(scope))
}
