import type { Actor } from '../../access/principal.ts'
import { appendManagement } from '../../audit/append-store.ts'
import type { Db } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError, relayerNotFound } from '../../errors.ts'
import { releaseAccounts } from '../accounts/claims-store.ts'
import { findAccountIds } from '../accounts/pool-store.ts'
import type { RelayerConfig } from '../relayer.ts'
import { auditedRelayer } from '../relayer-codec.ts'
import { countUnfinished, lockTopUps, lockWithAccounts, removeRelayer } from '../store.ts'
import { acceptNonces } from './accept-nonces.ts'
import { changeRelayer, type RelayerChange } from './change.ts'
import { type ManageContext, type ManagedRelayer, refuseTreasury } from './context.ts'
import { createRelayer } from './create.ts'

/**
 * The verbs of callers on relayers. Each is atomic, is recorded in the audit log, and throws AppError when
 * the service refuses it.
 */
export interface RelayerManager {
  /**
   * Throws 400 for a relayer that cannot be, 404 for a missing signer or notification, and 409 for an id in
   * use.
   */
  create(relayer: RelayerConfig, actor: Actor): Promise<ManagedRelayer>
  /**
   * `change` maps the current relayer to the new one. The service calls it more than once, the last time
   * under a lock. Throws 404 when the relayer does not exist.
   */
  change(id: string, change: RelayerChange, actor: Actor): Promise<ManagedRelayer>
  /**
   * Accepts the nonces that the chain has used and the records do not explain, and checks the relayer. Throws
   * 404 when the relayer does not exist, `not_supported` on chains without nonces, and `network_unavailable`
   * if no endpoint returns them.
   */
  acceptNonces(id: string, reason: string, actor: Actor): Promise<ManagedRelayer>
  /** Throws 400 while transactions are unfinished, and 404 when the relayer does not exist. */
  delete(id: string, actor: Actor): Promise<void>
}

/** Creates the manager of this database's relayers. */
export function createRelayerManager(context: ManageContext): RelayerManager {
  return {
    create: (relayer, actor) => createRelayer(context, relayer, actor),
    change: (id, change, actor) => changeRelayer(context, { id, change, actor }),
    acceptNonces: (id, reason, actor) => acceptNonces(context, { id, reason, actor }),
    delete: (id, actor) => deleteRelayer(context.db, id, actor),
  }
}

/**
 * Every writer of a transaction locks its account, so the count under the lock stays true until the commit.
 */
function deleteRelayer(db: Db, id: string, actor: Actor): Promise<void> {
  return transact(db, async (tx) => {
    await lockTopUps(tx)
    const relayer = await lockWithAccounts(tx, id)
    if (relayer === undefined) throw relayerNotFound(id)
    const unfinished = await countUnfinished(tx, id)
    if (unfinished > 0) throw hasTransactions(id, unfinished)
    await refuseTreasury(tx, id)
    const accounts = await findAccountIds(tx, id)
    await removeRelayer(tx, id)
    await releaseAccounts(tx, accounts)
    const target = { type: 'relayer', id } as const
    const before = auditedRelayer(relayer)
    await appendManagement(tx, { author: actor, action: 'deleteRelayer', target, before })
  })
}

function hasTransactions(id: string, unfinished: number): AppError {
  const count = unfinished === 1 ? '1 transaction' : `${unfinished} transactions`
  return new AppError(
    'relayer_has_transactions',
    `Relayer ${id} has ${count} that ${unfinished === 1 ? 'is' : 'are'} not final. Pause it, cancel them or wait until they are, then delete it.`,
  )
}
