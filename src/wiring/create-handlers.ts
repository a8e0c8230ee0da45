import { abiHandlers } from '../handlers/abis.ts'
import {
  apiKeyHandlers,
  currentApiKeyHandlers,
  sessionHandlers,
  usageHandlers,
} from '../handlers/api-keys.ts'
import { auditHandlers, reportHandlers } from '../handlers/audit.ts'
import { eventHandlers } from '../handlers/events.ts'
import { alertHandlers, healthHandlers, metricsHandlers, versionHandlers } from '../handlers/monitoring.ts'
import { networkHandlers } from '../handlers/networks.ts'
import { deliveryHandlers, notificationHandlers } from '../handlers/notifications.ts'
import { pluginHandlers } from '../handlers/plugins/operations.ts'
import { manageRelayersHandlers, relayerHandlers, relayerStateHandlers } from '../handlers/relayers.ts'
import { rpcHandlers } from '../handlers/rpc/rpc.ts'
import type { Service } from '../handlers/service.ts'
import { signerHandlers, signingHandlers } from '../handlers/signing.ts'
import { approvalHandlers, proposalHandlers } from '../handlers/transactions/approvals.ts'
import { scheduleHandlers } from '../handlers/transactions/schedules.ts'
import { searchTransactionsHandlers } from '../handlers/transactions/search.ts'
import { sponsoredHandlers } from '../handlers/transactions/sponsored.ts'
import {
  pendingHandlers,
  transactionBatchHandlers,
  transactionHandlers,
} from '../handlers/transactions/transactions.ts'
import type { AdmitCall, HandlerMap } from '../http/handler.ts'
import { createSolanaMethods } from '../wallet/solana-methods.ts'
import { createWallet } from '../wallet/wallet.ts'

/**
 * Joins the handlers of all operations. A missing one does not compile.
 * @param admitCall admits what the fronts call inside the process
 */
export function createHandlers(service: Service, admitCall: AdmitCall): HandlerMap {
  const signing = { ...relayerHandlers(service), ...signingHandlers(service) }
  const sending = {
    ...transactionHandlers(service),
    ...transactionBatchHandlers(service),
    ...sponsoredHandlers(service),
  }
  const fronts = { wallet: createWallet(service), sponsoring: createSolanaMethods(service) }
  const handlers: HandlerMap = {
    ...healthHandlers(service),
    ...metricsHandlers(service),
    ...manageRelayersHandlers(service),
    ...relayerStateHandlers(service),
    ...signing,
    ...rpcHandlers({ ...service, ...fronts, admitCall, operations: { ...signing, ...sending } }),
    ...sending,
    ...searchTransactionsHandlers(service),
    ...pendingHandlers(service),
    ...approvalHandlers(service),
    ...scheduleHandlers(service),
    ...signerHandlers(service),
    ...apiKeyHandlers(service),
    ...pluginHandlers(service),
    ...currentApiKeyHandlers(),
    ...versionHandlers(),
    ...sessionHandlers(service),
    ...usageHandlers(service),
    ...abiHandlers(service),
    ...reportHandlers(service),
    ...networkHandlers(service),
    ...notificationHandlers(service),
    ...eventHandlers(service),
    ...alertHandlers(service),
    ...auditHandlers(service),
    ...deliveryHandlers(service),
    ...proposalHandlers(service),
  }
  return service.secondPerson?.guard(handlers) ?? handlers
}
