import type { Schemas } from '../contract/operations.ts'
import { SCOPES, type Scope } from './scope.ts'

/** The name of a role, as the contract lists them. */
export type RoleName = Schemas['RoleName']

/** A set of scopes for the usual owner of a key, or for a person. */
export interface Role {
  /** Completes the sentence "A … sees, and changes nothing". */
  readonly description: string
  readonly scopes: readonly Scope[]
}

const SEES: readonly Scope[] = [
  'relayers:read',
  'transactions:read',
  'networks:read',
  'signers:read',
  'notifications:read',
  'plugins:read',
  'events:read',
  'metrics:read',
]

/**
 * Every role. Sessions and the console's form for API keys take them from here, so a change of a role applies
 * to people at once, and to API keys not at all: those have scopes.
 */
export const ROLES: Readonly<Record<RoleName, Role>> = {
  application: {
    description: 'sends and follows transactions',
    scopes: ['relayers:read', 'transactions:read', 'transactions:write', 'events:read'],
  },
  viewer: { description: 'sees, and changes nothing', scopes: SEES },
  operator: {
    description: 'also sends, cancels, pauses and notifies',
    scopes: [...SEES, 'relayers:write', 'transactions:write', 'notifications:write', 'rpc'],
  },
  approver: {
    description: 'decides about what waits',
    scopes: ['relayers:read', 'networks:read', 'transactions:read', 'transactions:approve', 'events:read'],
  },
  auditor: {
    description: 'also reads the audit log and the API keys',
    scopes: [...SEES, 'audit:read', 'api-keys:read'],
  },
  admin: { description: 'everything', scopes: SCOPES },
}

/** The names of all roles, in the order of the contract. */
export const ROLE_NAMES = Object.keys(ROLES) as readonly RoleName[]

/** The roles that people can have. */
export const ROLES_OF_PEOPLE = ROLE_NAMES.filter((name) => name !== 'application')

/** Returns the scopes of several roles together, in the order of the contract. */
export function scopesOf(roles: readonly RoleName[]): Scope[] {
  const granted = new Set(roles.flatMap((role) => ROLES[role].scopes))
  return SCOPES.filter((scope) => granted.has(scope))
}
