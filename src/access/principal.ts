import { hash } from 'node:crypto'
import type { Person } from '../audit/entry.ts'
import { AppError } from '../errors.ts'
import type { SpendingRules } from '../spending/rules.ts'
import type { RoleName } from './role.ts'
import type { Scope } from './scope.ts'

/** The part of the deployment that a key sees. An absent field means everything. */
export interface Visibility {
  /** Ids of relayers. A `*` at the end stands for any ending. */
  readonly relayers?: readonly string[] | undefined
  /** Networks by type and name, e.g. `evm:sepolia`. */
  readonly networks?: readonly string[] | undefined
}

/** The visibility of keys without a limit. */
export const ALL_RELAYERS: Visibility = Object.freeze({})

/** Returns true if nothing is hidden. */
export function seesEverything({ relayers, networks }: Visibility): boolean {
  return relayers === undefined && networks === undefined
}

/** Returns true if the id of a relayer fits. Its network is another question. */
export function seesRelayerId({ relayers }: Visibility, id: string): boolean {
  return relayers === undefined || relayers.some((pattern) => covers(pattern, id))
}

/** Returns true if a network, by type and name, fits. */
export function seesNetwork({ networks }: Visibility, networkId: string): boolean {
  return networks === undefined || networks.includes(networkId)
}

/** Returns true if `inner` shows nothing that `outer` hides. */
export function isWithin(inner: Visibility, outer: Visibility): boolean {
  return (
    isPart(inner.relayers, outer.relayers, covers) &&
    isPart(inner.networks, outer.networks, (known, wanted) => known === wanted)
  )
}

function isPart(
  inner: readonly string[] | undefined,
  outer: readonly string[] | undefined,
  fits: (known: string, wanted: string) => boolean,
): boolean {
  if (outer === undefined) return true
  return inner?.every((wanted) => outer.some((known) => fits(known, wanted))) ?? false
}

/** Returns true if a pattern fits an id, or every id that another pattern fits. */
function covers(pattern: string, wanted: string): boolean {
  return pattern.endsWith('*') ? wanted.startsWith(pattern.slice(0, -1)) : wanted === pattern
}

/** The API key of a request, or the person who is signed in, with the rights at that time. */
export interface Principal {
  /** The id of the API key, `root` for that of the environment; of a person, see `personId`. */
  readonly id: string
  /** Absent for an API key. */
  readonly person?: Person | undefined
  /** The session of the person; absent for an API key. */
  readonly session?: SessionFacts | undefined
  readonly visibility: Visibility
  /** The rules for what it may spend; absent if it has none. */
  readonly rules?: SpendingRules | undefined
  /** The end of its validity; absent if it has none. */
  readonly expiresAt?: Date | undefined
  /** Returns true if it has the scope. */
  may(scope: Scope): boolean
  /** Aborts when its rights change or end, which also ends the streams that it opened. */
  readonly ended: AbortSignal
}

/** The session of a person, as far as the person sees it. */
export interface SessionFacts {
  readonly id: string
  readonly roles: readonly RoleName[]
  readonly expiresAt: Date
}

/** The beginning of the ids of people. No API key has such an id. */
export const IDS_OF_PEOPLE = 'person.'

/** The hexadecimal digits of the id of a person: 128 bits, so that no one can sign up to be another one. */
const PERSON_DIGITS = 32

/**
 * Returns the id of a person in all records. It derives from issuer and subject alone: names and e-mail
 * addresses can change, and can pass to another person.
 */
export function personId({ issuer, subject }: Pick<Person, 'issuer' | 'subject'>): string {
  const digits = hash('sha256', JSON.stringify([issuer, subject]), 'hex')
  return IDS_OF_PEOPLE + digits.slice(0, PERSON_DIGITS)
}

/** The beginning of what names a session. The id of an API key has no colon. */
const OF_SESSION = 'session:'

/**
 * Names the credential that a principal came with, so that it can be found again: an API key, or one session.
 */
export function credentialOf({ id, session }: Pick<Principal, 'id' | 'session'>): string {
  return session === undefined ? id : OF_SESSION + session.id
}

/** Returns the id of the session that a credential is; undefined if it is an API key. */
export function sessionIn(credential: string): string | undefined {
  return credential.startsWith(OF_SESSION) ? credential.slice(OF_SESSION.length) : undefined
}

/** Names a caller in a sentence: `API key payments`, or `Person person.5f2c…`. */
export function callerName(id: string): string {
  return `${id.startsWith(IDS_OF_PEOPLE) ? 'Person' : 'API key'} ${id}`
}

/**
 * Refuses a caller without the scope. Undefined needs none.
 * @throws AppError `insufficient_scope`
 */
export function requireScope(principal: Principal, scope: Scope | undefined): void {
  if (scope === undefined || principal.may(scope)) return
  throw new AppError('insufficient_scope', `${callerName(principal.id)} lacks the scope ${scope}.`)
}

/** The id of the key of the environment. No record can have it. */
export const ROOT_ID = 'root'

/** The key of the environment: it can do everything, and it lasts as long as the process. */
export const ROOT: Principal = Object.freeze({
  id: ROOT_ID,
  visibility: ALL_RELAYERS,
  may: () => true,
  ended: new AbortController().signal,
})

/**
 * A caller without a key, where an operation needs none. No record can have its id, so nothing that is kept
 * by id mixes the two up.
 */
export const ANONYMOUS: Principal = Object.freeze({
  id: '(anonymous)',
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

/**
 * The sender of a request, as the records of what it changed name it. The service itself has neither an
 * address nor a request.
 */
export interface Actor {
  /** The id of its API key or person; `root` for the key of the environment. */
  readonly keyId: string
  /** The person who is signed in; absent for an API key. */
  readonly person?: Person | undefined
  /** The peer address, or the one that a trusted proxy reported. For IPv6 the network of 64 bits. */
  readonly address?: string | undefined
  /** Leads to the lines of the log. */
  readonly requestId?: string | undefined
  /** The rules for what the API key may spend; absent if it has none. */
  readonly rules?: SpendingRules | undefined
  /** The user of the caller for whom the request is, as the header `User-Id` names it. */
  readonly userId?: string | undefined
}

/** The rights of a key. */
export interface Rights {
  readonly scopes: readonly Scope[]
  readonly visibility: Visibility
  /** The rules for what it may spend; absent if it has none. */
  readonly rules?: SpendingRules | undefined
  /** Absent if it has no end. */
  readonly expiresAt?: Date | undefined
}
