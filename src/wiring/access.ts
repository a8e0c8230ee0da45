import type { Logger } from 'pino'
import { API_KEYS_CHANNEL } from '../access/api-keys-store.ts'
import { createKeyDirectory, type KeyDirectory } from '../access/directory.ts'
import { type ApiKeyManager, createApiKeyManager } from '../access/manage.ts'
import { sessionIn } from '../access/principal.ts'
import type { Database } from '../database/db.ts'
import type { StreamTickets } from '../events/stream-tickets-store.ts'
import type { RedeemTicket } from '../http/guards.ts'
import type { SignInPages } from '../http/server-options.ts'
import type { Clock } from '../lib/time.ts'
import { createSessions, type Sessions } from '../sign-in/sessions.ts'
import { SESSIONS_CHANNEL } from '../sign-in/sessions-store.ts'
import type { SignInSettings } from '../sign-in/settings.ts'
import { createSignIn } from '../sign-in/sign-in.ts'
import { createLoop, type Loop } from '../workers/loop.ts'

/**
 * A process knows a change of keys after this time at the latest, in ms, even if the notification was lost.
 */
const LOOK_MS = 1_000

interface AccessDeps {
  readonly database: Database
  readonly tickets: Pick<StreamTickets, 'redeem'>
  /** Absent if people cannot sign in. */
  readonly settings: SignInSettings | undefined
  readonly clock: Clock
  readonly log: Logger
}

/** The sign-in of people: for the HTTP server, and for the operations about sessions. */
interface SignInParts {
  readonly pages: SignInPages
  readonly sessions: Sessions
  readonly loop: Loop
}

/**
 * The API keys and people: the checks of the HTTP server, the operations of callers, and the loop that
 * follows changes.
 */
export interface Access {
  readonly directory: KeyDirectory
  readonly manager: ApiKeyManager
  readonly redeemTicket: RedeemTicket
  readonly loops: readonly Loop[]
  /** Absent if people cannot sign in. */
  readonly signIn: Pick<SignInParts, 'pages' | 'sessions'> | undefined
  /** Follows the changes of other processes. */
  listen(): Promise<() => Promise<void>>
}

/** Creates the access of this process, with the keys as they are now. */
export async function createAccess(deps: AccessDeps): Promise<Access> {
  const { database, tickets, clock, log, settings } = deps
  const { db } = database
  const directory = createKeyDirectory({ db, clock })
  await directory.look()
  const loop = createLoop({ name: 'api-keys', intervalMs: LOOK_MS, clock, log, work: directory.look })
  const signIn = settings && (await createSignInParts(deps, settings))
  return {
    directory,
    manager: createApiKeyManager({ db, clock, changed: directory.look }),
    redeemTicket: async (ticket) => {
      const granted = await tickets.redeem(ticket)
      if (granted === undefined) return undefined
      const { credential, filter } = granted
      const sessionId = sessionIn(credential)
      const principal =
        sessionId === undefined ? directory.byId(credential) : signIn?.sessions.byId(sessionId)
      return principal && { principal, filter }
    },
    loops: signIn === undefined ? [loop] : [loop, signIn.loop],
    signIn,
    listen: async () => {
      const subscriptions = [await database.listen(API_KEYS_CHANNEL, loop.wake)]
      if (signIn) subscriptions.push(await database.listen(SESSIONS_CHANNEL, signIn.loop.wake))
      return async () => {
        for (const unlisten of subscriptions) await unlisten()
      }
    },
  }
}

async function createSignInParts(
  { database: { db }, clock, log }: AccessDeps,
  settings: SignInSettings,
): Promise<SignInParts> {
  const sessions = createSessions({ db, clock, settings })
  await sessions.look()
  const loop = createLoop({ name: 'sessions', intervalMs: LOOK_MS, clock, log, work: sessions.look })
  const pages = { ...createSignIn({ settings, sessions, clock, log }), findSession: sessions.find }
  return { sessions, loop, pages }
}
