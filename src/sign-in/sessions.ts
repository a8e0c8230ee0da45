import { hash, randomBytes, randomUUID } from 'node:crypto'
import { findMissingRight } from '../access/manage.ts'
import { type Actor, ALL_RELAYERS, type Principal, personId, principalOf } from '../access/principal.ts'
import { scopesOf } from '../access/role.ts'
import { appendManagement } from '../audit/append-store.ts'
import type { Db } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Identity } from './claims.ts'
import {
  deleteOverSessions,
  deleteSession,
  exchangeUses,
  findSession,
  insertSession,
  listSessions,
  readSessions,
  readSessionVersion,
  type Session,
  type StoredSession,
} from './sessions-store.ts'
import type { SignInSettings } from './settings.ts'

/** The entropy of the secret in the cookie in bytes: too much to guess. */
const SECRET_BYTES = 32

/** The most sessions of one person. One more ends the oldest, so people cannot fill the memory. */
const MAX_OF_PERSON = 10

/** The longest browser name that is kept, in characters. */
const MAX_USER_AGENT = 200

/** The time in ms between two exchanges of the last uses with the database. */
const USES_EVERY_MS = 60_000

/**
 * A process hears of a use at another one up to this late, in ms: two exchanges, and a third that fails. An
 * idle session ends no sooner.
 */
const USES_LATE_MS = 3 * USES_EVERY_MS

/** From where someone signs in. */
export interface SignInOrigin {
  readonly address: string
  readonly userAgent: string
  readonly requestId: string
  /** The secret of the cookie that the browser already has. That session ends. */
  readonly previous: string | undefined
}

interface Requester {
  readonly principal: Principal
  readonly actor: Actor
}

/**
 * The sessions of people. As with API keys, each process has all of them in memory, so that a request costs
 * no query: a database notification brings changes immediately, and `look`, which the caller repeats, those
 * whose notification was lost.
 */
export interface Sessions {
  /** Begins a session with a new secret, which is the only copy. */
  begin(identity: Identity, origin: SignInOrigin): Promise<{ readonly secret: string }>
  /**
   * Returns the principal of a secret, by its hash in hex digits; undefined if it has no session, or that has
   * ended.
   */
  find(secretHash: string): Principal | undefined
  /** Returns the principal of a session, by the same rules. */
  byId(id: string): Principal | undefined
  list(range: {
    readonly offset: number
    readonly limit: number
  }): Promise<{ items: Session[]; total: number }>
  /** @throws AppError 404; 400 for a session with scopes that the caller lacks */
  end(requester: Requester, id: string): Promise<void>
  /** Ends the session of the caller. @throws AppError 400 for a caller with an API key */
  endOwn(requester: Requester): Promise<void>
  /** Reads the sessions, if any began or ended. Ends the streams of those that are over. */
  look(): Promise<void>
}

interface Known {
  readonly session: StoredSession
  readonly principal: Principal
  readonly end: AbortController
  /** The last use that this process knows, in ms since the Unix epoch. */
  usedAt: number
}

interface SessionsDeps {
  readonly db: Db
  readonly clock: Clock
  readonly settings: Pick<SignInSettings, 'issuer' | 'sessionMs' | 'idleMs'>
}

/** Creates the sessions of this database. They know none until their first look. */
export function createSessions({ db, clock, settings }: SessionsDeps): Sessions {
  const { issuer, sessionMs, idleMs } = settings
  let version: bigint | undefined
  let byId: ReadonlyMap<string, Known> = new Map()
  let byHash: ReadonlyMap<string, Known> = new Map()
  let uses = new Map<string, Date>()
  let exchangedAt = clock.monotonic()

  const isOver = ({ session, usedAt }: Known) =>
    session.expiresAt.getTime() <= clock.now() || usedAt <= idleSince().getTime()
  const idleSince = () => new Date(clock.now() - idleMs - USES_LATE_MS)

  async function adopt(): Promise<void> {
    const snapshot = await readSessions(db, issuer)
    const next = new Map(
      snapshot.sessions.map((session) => [session.id, byId.get(session.id) ?? known(session)]),
    )
    const gone = [...byId.values()].filter(({ session }) => !next.has(session.id))
    byId = next
    byHash = new Map([...next.values()].map((one) => [one.session.hash, one]))
    version = snapshot.version
    for (const { end } of gone) end.abort()
  }

  async function exchange(): Promise<void> {
    if (byId.size === 0 || clock.monotonic() - exchangedAt < USES_EVERY_MS) return
    const written = uses
    uses = new Map()
    exchangedAt = clock.monotonic()
    for (const [id, at] of await exchangeUses(db, written)) {
      const one = byId.get(id)
      if (one !== undefined) one.usedAt = Math.max(one.usedAt, at.getTime())
    }
    if ([...byId.values()].some(isOver))
      await deleteOverSessions(db, { now: new Date(clock.now()), idleSince: idleSince() })
  }

  async function look(): Promise<void> {
    if (version === undefined || (await readSessionVersion(db)) !== version) await adopt()
    await exchange()
    for (const one of byId.values()) if (isOver(one)) one.end.abort()
  }

  const valid = (one: Known | undefined) => (one === undefined || isOver(one) ? undefined : one.principal)

  return {
    find: (secretHash) => {
      const one = byHash.get(secretHash)
      const principal = valid(one)
      if (one !== undefined && principal !== undefined) {
        one.usedAt = clock.now()
        uses.set(one.session.id, new Date(one.usedAt))
      }
      return principal
    },
    byId: (id) => valid(byId.get(id)),
    begin: async ({ person, roles }, { address, userAgent, requestId, previous }) => {
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      const now = new Date(clock.now())
      const session = {
        id: randomUUID(),
        hash: hashOf(secret),
        person,
        roles,
        address,
        userAgent: userAgent.slice(0, MAX_USER_AGENT) || undefined,
        createdAt: now,
        lastUsedAt: now,
        expiresAt: new Date(now.getTime() + sessionMs),
      }
      const replaced = previous === undefined ? undefined : byHash.get(hashOf(previous))
      await transact(db, async (tx) => {
        if (replaced !== undefined) await deleteSession(tx, replaced.session.id)
        await insertSession(tx, session, MAX_OF_PERSON)
        const author = { keyId: personId(person), person, address, requestId }
        const target = { type: 'session', id: session.id } as const
        const after = { roles, expires_at: session.expiresAt }
        await appendManagement(tx, { author, action: 'signIn', target, after })
      })
      await look()
      return { secret }
    },
    list: (range) =>
      listSessions(db, { issuer, idleSince: idleSince(), now: new Date(clock.now()), ...range }),
    end: async ({ principal, actor }, id) => {
      const session = await findSession(db, issuer, id)
      if (session === undefined) throw absentSession(id)
      // A session ends by itself, so the end of the caller's key is no limit here.
      const { expiresAt } = principal
      const rights = { scopes: scopesOf(session.roles), visibility: ALL_RELAYERS, expiresAt }
      if (findMissingRight(rights, principal) !== undefined) throw stronger(id)
      await remove(session, actor, 'endSession')
    },
    endOwn: async ({ principal, actor }) => {
      const id = principal.session?.id
      const session = id === undefined ? undefined : await findSession(db, issuer, id)
      if (session === undefined) throw noSession()
      await remove(session, actor, 'endCurrentSession')
    },
    look,
  }

  async function remove(
    { id, person, roles }: Session,
    author: Actor,
    action: 'endSession' | 'endCurrentSession',
  ): Promise<void> {
    await transact(db, async (tx) => {
      if (!(await deleteSession(tx, id))) throw absentSession(id)
      const before = { person_id: personId(person), roles }
      await appendManagement(tx, { author, action, target: { type: 'session', id }, before })
    })
    await look()
  }
}

/** Returns the hash by which a secret is stored and found. A plain one is enough for a random secret. */
function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function known(session: StoredSession): Known {
  const { id, person, roles, expiresAt, lastUsedAt } = session
  const end = new AbortController()
  const rights = { scopes: scopesOf(roles), visibility: ALL_RELAYERS }
  const facts = { person, session: { id, roles, expiresAt } }
  const principal = Object.freeze({ ...principalOf(personId(person), rights, end.signal), ...facts })
  return { session, principal, end, usedAt: lastUsedAt.getTime() }
}

/** Makes the failure for a session that is not there. */
export function absentSession(id: string) {
  return new AppError('session_not_found', `There is no session ${id}, or it has ended.`)
}

function stronger(id: string) {
  return new AppError('invalid_request', `Session ${id} has rights that you lack, so you cannot end it.`)
}

/** Makes the failure for a caller who signs out with an API key. */
export function noSession() {
  return new AppError('invalid_request', 'This request has no session to end: an API key is not signed in.')
}
