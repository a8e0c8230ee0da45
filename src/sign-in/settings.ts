import { ROLES_OF_PEOPLE, type RoleName } from '../access/role.ts'
import { type FieldType, type Reader, text, whole } from '../lib/fields.ts'
import type { Secret } from '../security/secrets.ts'

/** The entry `sign_in` of the configuration file, by which people sign in. Times are in milliseconds. */
export interface SignInSettings {
  /** The name of the provider on the button. */
  readonly name: string
  /** The url of the provider, below which its discovery document is. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for a public client, which only PKCE protects. */
  readonly clientSecret?: Secret | undefined
  readonly scopes: readonly string[]
  /** The origin at which browsers reach the service. It is never taken from a request. */
  readonly publicUrl: string
  /** The names that lead to the claim with the values below, from the outside in. */
  readonly rolesClaim: readonly string[]
  /** The roles of each value of the claim. Other values give none. */
  readonly roles: ReadonlyMap<string, readonly RoleName[]>
  /** A session ends this long after its sign-in. */
  readonly sessionMs: number
  /** A session ends this long after its last request. */
  readonly idleMs: number
}

/**
 * Hours: long enough for a working day. Roles are read at each sign-in only, so more would keep lost ones.
 */
const SESSION_HOURS = { standard: 12, longest: 24 }

/**
 * Minutes. Processes tell each other once a minute who was active, so that a shorter limit than the shortest
 * would sign out people who work.
 */
const IDLE_MINUTES = { standard: 60, shortest: 5, longest: 1_440 }

/** The scopes of OpenID Connect that give the name and the e-mail address. */
const STANDARD_SCOPES = ['openid', 'profile', 'email']

interface SignInSources {
  /** Reads a field that holds a secret. */
  readonly secretOf: (reader: Reader, key: string) => Secret | undefined
  /** `RELAYER_PUBLIC_URL`, as it is set. */
  readonly publicUrl: string | undefined
}

/** Reads the entry `sign_in`. */
export function readSignIn(reader: Reader, { secretOf, publicUrl }: SignInSources): SignInSettings {
  const issuer = reader.get('issuer', issuerUrl)
  const scopes = reader.list('scopes', scopeToken)
  const settings = {
    name: reader.find('name', buttonName) ?? hostOf(issuer),
    issuer,
    clientId: reader.get('client_id', text),
    clientSecret: secretOf(reader, 'client_secret'),
    scopes: [...new Set(['openid', ...(scopes.length === 0 ? STANDARD_SCOPES : scopes)])],
    publicUrl: readOrigin(reader, publicUrl),
    rolesClaim: readClaimPath(reader),
    roles: readRoles(reader),
    sessionMs:
      (reader.find('session_hours', whole(1, SESSION_HOURS.longest)) ?? SESSION_HOURS.standard) * 3_600_000,
    idleMs:
      (reader.find('idle_minutes', whole(IDLE_MINUTES.shortest, IDLE_MINUTES.longest)) ??
        IDLE_MINUTES.standard) * 60_000,
  }
  reader.finish()
  return settings
}

/** A claim by its name, or by the names that lead to it: a name can contain dots, as those of Auth0 do. */
function readClaimPath(reader: Reader): readonly string[] {
  if (typeof reader.raw('roles_claim') === 'string') return [reader.get('roles_claim', text)]
  const path = reader.list('roles_claim', text)
  if (path.length === 0)
    reader.problem(
      'is missing: it must be the name of a claim, or the list of names that lead to it',
      'roles_claim',
    )
  return path
}

function readRoles(reader: Reader): ReadonlyMap<string, readonly RoleName[]> {
  const given = reader.raw('roles')
  if (
    typeof given !== 'object' ||
    given === null ||
    Array.isArray(given) ||
    Object.keys(given).length === 0
  ) {
    reader.problem('must be an object that gives a role to at least one value of roles_claim', 'roles')
    return new Map()
  }
  const roles = new Map<string, readonly RoleName[]>()
  for (const [value, wanted] of Object.entries(given)) {
    const names = [wanted].flat().map((name) => ROLES_OF_PEOPLE.find((known) => known === name))
    const known = names.filter((name) => name !== undefined)
    if (known.length === 0 || known.length < names.length)
      reader.problem(
        `must give ${JSON.stringify(value)} ${ROLES_OF_PEOPLE.join(', ')}, or a list of these`,
        'roles',
      )
    roles.set(value, known)
  }
  return roles
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Returns true for https, and for http on this machine, which no one else can read. */
function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
}

const issuerUrl: FieldType<string> = {
  expected: 'the https:// url of the provider, without a query (http:// only on this machine)',
  read: (value) => {
    if (typeof value !== 'string' || !URL.canParse(value)) return undefined
    const url = new URL(value)
    const isPlain = url.search === '' && url.hash === '' && url.username === '' && url.password === ''
    return isPlain && isProtected(url) ? value : undefined
  },
  blank: 'https://unknown.invalid',
}

/** Reads the origin of the service for browsers, from which a sign-in begins and to which it returns. */
function readOrigin(reader: Reader, publicUrl = ''): string {
  const origin = publicUrl.replace(/\/$/, '')
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  if (url?.origin === origin && isProtected(url)) return origin
  reader.problem(
    'needs RELAYER_PUBLIC_URL with an origin such as "https://relayer.example", without a path (http:// only on this machine)',
  )
  return ''
}

/** RFC 6749 §3.3. */
const scopeToken: FieldType<string> = {
  expected: 'a scope of the provider, without spaces',
  read: (value) => (typeof value === 'string' && /^[!#-[\]-~]{1,200}$/.test(value) ? value : undefined),
  blank: '',
}

const buttonName: FieldType<string> = {
  expected: 'a text of 1 to 50 characters for the button',
  read: (value) => (typeof value === 'string' && /^\P{Cc}{1,50}$/u.test(value) ? value : undefined),
  blank: '',
}

function hostOf(url: string): string {
  return new URL(url).hostname
}
