import type { HandlerMap } from '../contract/handler.ts'
import { abiHandlers } from './abis.ts'
import { apiKeyHandlers, currentApiKeyHandlers, usageHandlers } from './api-keys.ts'
import { approvalHandlers } from './approvals.ts'
import { auditHandlers, reportHandlers } from './audit.ts'
import { eventHandlers } from './events.ts'
import { alertHandlers, healthHandlers, metricsHandlers } from './monitoring.ts'
import { networkHandlers } from './networks.ts'
import { deliveryHandlers, notificationHandlers } from './notifications.ts'
import { manageRelayersHandlers, relayerHandlers, relayerStateHandlers } from './relayers.ts'
import type { Service } from './service.ts'
import { signerHandlers, signingHandlers } from './signing.ts'
import {
  pendingHandlers,
  searchTransactionsHandlers,
  transactionBatchHandlers,
  transactionHandlers,
} from './transactions.ts'
import { rpcHandlers } from './wallet/rpc.ts'

/** Joins the handlers of all operations. A missing one does not compile. */
export function createHandlers(service: Service): HandlerMap {
  const signing = { ...relayerHandlers(service), ...signingHandlers(service) }
  return {
    ...healthHandlers(service),
    ...metricsHandlers(service),
    ...manageRelayersHandlers(service),
    ...relayerStateHandlers(service),
    ...signing,
    ...rpcHandlers(service, signing),
    ...transactionHandlers(service),
    ...transactionBatchHandlers(service),
    ...searchTransactionsHandlers(service),
    ...pendingHandlers(service),
    ...approvalHandlers(service),
    ...signerHandlers(service),
    ...apiKeyHandlers(service),
    ...currentApiKeyHandlers(),
    ...usageHandlers(service),
    ...abiHandlers(service),
    ...reportHandlers(service),
    ...networkHandlers(service),
    ...notificationHandlers(service),
    ...eventHandlers(service),
    ...alertHandlers(service),
    ...auditHandlers(service),
    ...deliveryHandlers(service),
  }
}
