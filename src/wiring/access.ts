import type { Logger } from 'pino'
import { API_KEYS_CHANNEL } from '../access/api-keys-store.ts'
import { createKeyDirectory, type KeyDirectory } from '../access/directory.ts'
import { type ApiKeyManager, createApiKeyManager } from '../access/manage.ts'
import type { Database } from '../database/db.ts'
import type { StreamTickets } from '../events/stream-tickets-store.ts'
import type { RedeemTicket } from '../http/guards.ts'
import type { Clock } from '../lib/time.ts'
import { createLoop, type Loop } from '../workers/loop.ts'

/**
 * A process knows a change of keys after this time at the latest, in ms, even if the notification was lost.
 */
const LOOK_MS = 1_000

interface AccessDeps {
  readonly database: Database
  readonly tickets: Pick<StreamTickets, 'redeem'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The API keys: the checks of the HTTP server, the operations of callers, and the loop that follows changes.
 */
export interface Access {
  readonly directory: KeyDirectory
  readonly manager: ApiKeyManager
  readonly redeemTicket: RedeemTicket
  readonly loop: Loop
  /** Follows the changes of other processes. */
  listen(): Promise<() => Promise<void>>
}

/** Creates the access of this process, with the keys as they are now. */
export async function createAccess({ database, tickets, clock, log }: AccessDeps): Promise<Access> {
  const { db } = database
  const directory = createKeyDirectory({ db, clock })
  await directory.look()
  const loop = createLoop({ name: 'api-keys', intervalMs: LOOK_MS, clock, log, work: directory.look })
  return {
    directory,
    manager: createApiKeyManager({ db, clock, changed: directory.look }),
    redeemTicket: async (ticket) => {
      const granted = await tickets.redeem(ticket)
      const principal = granted && directory.byId(granted.keyId)
      return principal && { principal, filter: granted.filter }
    },
    loop,
    listen: () => database.listen(API_KEYS_CHANNEL, loop.wake),
  }
}
