import type { Answer } from '../../chains/answer.ts'
import type { Db, Tx } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import type { NetworkDirectory } from '../../networks/directory.ts'
import type { Network } from '../../networks/network.ts'
import { holdNotification } from '../../notifications/store.ts'
import type { HealthTarget } from '../health/health-target.ts'
import type { PolicyBounds } from '../policy-bounds.ts'
import type { Relayer } from '../relayer.ts'
import type { FindKey } from '../source-accounts.ts'

/** The parts of the service that the management of relayers works with. */
export interface ManageContext {
  readonly db: Db
  readonly networks: NetworkDirectory
  readonly findKey: FindKey
  /** Asks the network's urls which chain they serve, for a few seconds at most. */
  readonly verify: (network: Network) => Promise<Answer<void>>
  /** The ceilings that the operator sets for policies. */
  readonly bounds: PolicyBounds
  /** Lets urls that callers choose lead to private networks. */
  readonly allowPrivateUrls: boolean
  /** Returns the present chain and accounts of a relayer. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<HealthTarget, 'chain' | 'sourceAccounts'>>
  /** Checks the health of a relayer that was created or changed, and returns it as it is afterwards. */
  readonly checked: (relayer: Relayer) => Promise<Relayer>
  /** Warns the operator when the key of a new relayer serves other networks, too. It never rejects. */
  readonly reportKey: (relayer: Relayer) => Promise<void>
}

/** A relayer after a change, with sentences for the caller. */
export interface ManagedRelayer {
  readonly relayer: Relayer
  readonly logs: readonly string[]
}

/**
 * Locks the notification against deletion until the commit.
 * @throws AppError 404 `notification_not_found`
 */
export async function requireNotification(tx: Tx, notificationId: string | undefined): Promise<void> {
  if (notificationId === undefined || (await holdNotification(tx, notificationId))) return
  throw noNotification(notificationId)
}

/** Makes the failure for a relayer that would refer to a notification that is not there. */
export function noNotification(id: string): AppError {
  return new AppError('notification_not_found', `notification_id: there is no notification "${id}".`)
}
