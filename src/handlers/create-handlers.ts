import type { HandlerMap } from '../contract/handler.ts'

import { type AbiHandlerDeps, abiHandlers } from './abis.ts'
import {
  type ApiKeyHandlerDeps,
  apiKeyHandlers,
  currentApiKeyHandlers,
  type UsageHandlerDeps,
  usageHandlers,
} from './api-keys.ts'
import { type ApprovalHandlerDeps, approvalHandlers } from './approvals.ts'
import { type AuditHandlerDeps, auditHandlers, type ReportHandlerDeps, reportHandlers } from './audit.ts'
import { type EventHandlerDeps, eventHandlers } from './events.ts'
import {
  type AlertHandlerDeps,
  alertHandlers,
  type HealthHandlerDeps,
  healthHandlers,
  type MetricsHandlerDeps,
  metricsHandlers,
} from './monitoring.ts'
import { type NetworkHandlerDeps, networkHandlers } from './networks.ts'
import {
  type DeliveryHandlerDeps,
  deliveryHandlers,
  type NotificationHandlerDeps,
  notificationHandlers,
} from './notifications.ts'
import {
  type ManageRelayersDeps,
  manageRelayersHandlers,
  type RelayerHandlerDeps,
  type RelayerStateDeps,
  relayerHandlers,
  relayerStateHandlers,
} from './relayers.ts'
import {
  type SignerHandlerDeps,
  type SigningHandlerDeps,
  signerHandlers,
  signingHandlers,
} from './signing.ts'
import {
  type PendingHandlerDeps,
  pendingHandlers,
  type SearchTransactionsDeps,
  searchTransactionsHandlers,
  type TransactionBatchHandlerDeps,
  type TransactionHandlerDeps,
  transactionBatchHandlers,
  transactionHandlers,
} from './transactions.ts'
import { type RpcHandlerDeps, rpcHandlers } from './wallet/rpc.ts'

/** Joins the handlers of all operations. A missing one does not compile. */
export function createHandlers(
  deps: TransactionHandlerDeps &
    RelayerHandlerDeps &
    ManageRelayersDeps &
    RelayerStateDeps &
    TransactionBatchHandlerDeps &
    SearchTransactionsDeps &
    PendingHandlerDeps &
    ApprovalHandlerDeps &
    SigningHandlerDeps &
    RpcHandlerDeps &
    EventHandlerDeps &
    AlertHandlerDeps &
    AuditHandlerDeps &
    DeliveryHandlerDeps &
    SignerHandlerDeps &
    ApiKeyHandlerDeps &
    UsageHandlerDeps &
    AbiHandlerDeps &
    ReportHandlerDeps &
    NetworkHandlerDeps &
    NotificationHandlerDeps &
    MetricsHandlerDeps &
    HealthHandlerDeps,
): HandlerMap {
  const signing = { ...relayerHandlers(deps), ...signingHandlers(deps) }
  return {
    ...healthHandlers(deps),
    ...metricsHandlers(deps),
    ...manageRelayersHandlers(deps),
    ...relayerStateHandlers(deps),
    ...signing,
    ...rpcHandlers(deps, signing),
    ...transactionHandlers(deps),
    ...transactionBatchHandlers(deps),
    ...searchTransactionsHandlers(deps),
    ...pendingHandlers(deps),
    ...approvalHandlers(deps),
    ...signerHandlers(deps),
    ...apiKeyHandlers(deps),
    ...currentApiKeyHandlers(),
    ...usageHandlers(deps),
    ...abiHandlers(deps),
    ...reportHandlers(deps),
    ...networkHandlers(deps),
    ...notificationHandlers(deps),
    ...eventHandlers(deps),
    ...alertHandlers(deps),
    ...auditHandlers(deps),
    ...deliveryHandlers(deps),
  }
}
