import type { HandlerMap } from '../contract/operations.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { PendingCanceler } from '../transactions/replace/cancel-pending.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that these operations call. */
export interface PendingHandlerDeps {
  readonly relayerOf: RelayerReader
  readonly cancelPending: PendingCanceler
}

/** The operation on all waiting transactions of a relayer. */
export function pendingHandlers({
  relayerOf,
  cancelPending,
}: PendingHandlerDeps): Pick<HandlerMap, 'deletePendingTransactions'> {
  return {
    deletePendingTransactions: async ({ path }, { actor, signal }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { canceled, failures, remaining } = await cancelPending(relayer, actor, signal)
      return {
        data: {
          queued_for_cancellation_transaction_ids: [...canceled],
          failed_to_queue_transaction_ids: failures.map(({ id }) => id),
          failures: failures.map(({ id, error }) => ({
            transaction_id: id,
            code: error.code,
            error: error.detail,
          })),
          total_processed: canceled.length + failures.length,
          remaining,
        },
      }
    },
  }
}
