import type { HandlerMap } from '../contract/operations.ts'
import { type HealthReport, healthHandlers } from './health.ts'
import { notificationHandlers } from './notifications.ts'
import { relayerHandlers } from './relayers.ts'
import { type TransactionHandlerDeps, transactionHandlers } from './transactions.ts'

/** All operations of the contract. A missing one does not compile. */
export function createHandlers(
  deps: TransactionHandlerDeps & { check: () => Promise<HealthReport> },
): HandlerMap {
  return {
    ...healthHandlers(deps),
    ...relayerHandlers(deps),
    ...transactionHandlers(deps),
    ...notificationHandlers(deps),
  }
}
