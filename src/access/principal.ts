import type { SpendingRules } from '../spending/rules.ts'
import type { Rights } from './api-key.ts'
import type { Scope } from './scope.ts'
import { EVERYTHING, type Visibility } from './visibility.ts'

/** The API key of a request, with its rights at that time. */
export interface Principal {
  /** The id of the API key; `root` for that of the environment. */
  readonly id: string
  readonly visibility: Visibility
  /** The rules for what it may spend; absent when it has none. */
  readonly rules?: SpendingRules | undefined
  /** The end of its validity; absent when it has none. */
  readonly expiresAt?: Date | undefined
  /** Returns true when it has the scope. */
  may(scope: Scope): boolean
  /** Aborts when its rights change or end: streams that were opened with them end, too. */
  readonly ended: AbortSignal
}

/** The id of the key of the environment. No record can have it. */
export const ROOT_ID = 'root'

/** The key of the environment: it can do everything, and it lasts as long as the process. */
export const ROOT: Principal = Object.freeze({
  id: ROOT_ID,
  visibility: EVERYTHING,
  may: () => true,
  ended: new AbortController().signal,
})

/** A caller without a key, where an operation needs none. No record can have its id, so nothing that is kept by id mixes the two up. */
export const NOBODY: Principal = Object.freeze({
  id: '(nobody)',
  visibility: { relayers: [] },
  may: () => false,
  ended: new AbortController().signal,
})

/** Creates the principal of a record. */
export function principalOf(id: string, rights: Rights, ended: AbortSignal): Principal {
  const scopes = new Set(rights.scopes)
  return Object.freeze({
    id,
    visibility: rights.visibility,
    rules: rights.rules,
    expiresAt: rights.expiresAt,
    may: (scope: Scope) => scopes.has(scope),
    ended,
  })
}
