import type { RoleName } from '../access/role.ts'
import type { Person } from '../audit/entry.ts'
import { omitUndefined } from '../lib/object.ts'
import type { SignInSettings } from './settings.ts'

/** The claims of a verified token. Their types are unknown: a provider writes what its operator maps. */
export type Claims = Readonly<Record<string, unknown>>

/** Why someone is not signed in, as a sentence for the person. */
export class SignInError extends Error {
  override readonly name = 'SignInError'
  /**
   * `refused`: the provider or its claims do not allow it · `invalid`: the request or the answer of the provider
   * is not acceptable · `unavailable`: the provider does not answer.
   */
  readonly kind: 'refused' | 'invalid' | 'unavailable'

  constructor(kind: SignInError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** A person with the roles that the provider named. */
export interface Identity {
  readonly person: Person
  readonly roles: readonly RoleName[]
}

type RoleSettings = Pick<SignInSettings, 'issuer' | 'rolesClaim' | 'roles'>

/**
 * Reads who signed in, and with which roles. There is no standard role.
 * @throws SignInError `refused` if the claims give no role, or are not what they must be
 */
export function readIdentity(claims: Claims, settings: RoleSettings): Identity {
  const { sub } = claims
  // OpenID Connect Core §2 limits it to 255 ASCII characters.
  if (typeof sub !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(sub))
    throw new SignInError('refused', 'The provider sent no subject for you.')
  const roles = readRoles(claims, settings)
  if (roles.length === 0)
    throw new SignInError(
      'refused',
      `No role is configured for you: ${JSON.stringify(settings.rolesClaim.join(' › '))} has none of the values that this service knows. Ask its operator.`,
    )
  // An address that the provider did not verify is one that a user typed.
  const email = claims.email_verified === false ? undefined : shownText(claims.email)
  const person = { issuer: settings.issuer, subject: sub, name: shownText(claims.name), email }
  return { person: omitUndefined(person), roles }
}

/** Returns true if the claims have the one with the roles, whatever its value. */
export function hasRolesClaim(claims: Claims, { rolesClaim }: Pick<SignInSettings, 'rolesClaim'>): boolean {
  return claimAt(claims, rolesClaim) !== undefined
}

function readRoles(claims: Claims, { rolesClaim, roles }: RoleSettings): readonly RoleName[] {
  const claim = claimAt(claims, rolesClaim)
  const shown = JSON.stringify(rolesClaim.join(' › '))
  if (claim === undefined)
    throw new SignInError(
      'refused',
      `The provider sent no claim ${shown} for you.${missingHint(claims, rolesClaim)}`,
    )
  const values = [claim].flat()
  if (!values.every((value) => typeof value === 'string'))
    throw new SignInError('refused', `The claim ${shown} must be a text or a list of texts.`)
  // Anyone can give an account an address that the provider did not verify.
  if (rolesClaim.join() === 'email' && claims.email_verified !== true)
    throw new SignInError('refused', 'The provider has not verified your e-mail address.')
  return [...new Set(values.flatMap((value) => roles.get(value) ?? []))]
}

function claimAt(claims: Claims, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => {
    const isObject = typeof at === 'object' && at !== null && !Array.isArray(at)
    return isObject && Object.hasOwn(at, name) ? (at as Claims)[name] : undefined
  }, claims)
}

/** Microsoft Entra leaves out more than 200 groups, and says where they are instead. */
function missingHint({ _claim_names: elsewhere }: Claims, [first = '']: readonly string[]): string {
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, first)
  return isElsewhere ? ' There are too many values for a token: map app roles instead of groups.' : ''
}

/** The longest name that records keep, in characters: people name themselves at some providers. */
const MAX_TEXT = 200

/** Keeps a text that people will read beside others: without control characters and changes of direction. */
function shownText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '').trim()
  return [...text].slice(0, MAX_TEXT).join('') || undefined
}
