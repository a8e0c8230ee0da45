import type { HandlerMap } from '../contract/operations.ts'
import { type AbiHandlerDeps, abiHandlers } from './abis.ts'
import { type AlertHandlerDeps, alertHandlers } from './alerts.ts'
import { type ApiKeyHandlerDeps, apiKeyHandlers } from './api-keys.ts'
import { type ApprovalHandlerDeps, approvalHandlers } from './approvals.ts'
import { type AuditHandlerDeps, auditHandlers } from './audit.ts'
import { currentApiKeyHandlers } from './current-api-key.ts'
import { type DeliveryHandlerDeps, deliveryHandlers } from './deliveries.ts'
import { type EventHandlerDeps, eventHandlers } from './events.ts'
import { type HealthHandlerDeps, healthHandlers } from './health.ts'
import { type ManageRelayersDeps, manageRelayersHandlers } from './manage-relayers.ts'
import { type MetricsHandlerDeps, metricsHandlers } from './metrics.ts'
import { type NetworkHandlerDeps, networkHandlers } from './networks.ts'
import { type NotificationHandlerDeps, notificationHandlers } from './notifications.ts'
import { type PendingHandlerDeps, pendingHandlers } from './pending.ts'
import { type RelayerStateDeps, relayerStateHandlers } from './relayer-state.ts'
import { type RelayerHandlerDeps, relayerHandlers } from './relayers.ts'
import { type ReportHandlerDeps, reportHandlers } from './reports.ts'
import { type RpcHandlerDeps, rpcHandlers } from './rpc.ts'
import { type SearchTransactionsDeps, searchTransactionsHandlers } from './search-transactions.ts'
import { type SignerHandlerDeps, signerHandlers } from './signers.ts'
import { type SigningHandlerDeps, signingHandlers } from './signing.ts'
import { type TransactionBatchHandlerDeps, transactionBatchHandlers } from './transaction-batch.ts'
import { type TransactionHandlerDeps, transactionHandlers } from './transactions.ts'
import { type UsageHandlerDeps, usageHandlers } from './usage.ts'

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
