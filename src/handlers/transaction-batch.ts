import type { HandlerMap } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { BatchAcceptor } from '../transactions/accept/accept-batch.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import { presentWithAttempts } from './present/transaction.ts'
import { readBatch } from './read/batch.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that this operation calls. */
export interface TransactionBatchHandlerDeps {
  readonly db: Db
  readonly relayerOf: RelayerReader
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
  readonly acceptBatch: BatchAcceptor
}

/** The operation that sends many transactions at once. */
export function transactionBatchHandlers({
  db,
  relayerOf,
  runtimeOf,
  acceptBatch,
}: TransactionBatchHandlerDeps): Pick<HandlerMap, 'sendTransactionBatch'> {
  return {
    sendTransactionBatch: async ({ path, body }, { actor, countFurther }) => {
      countFurther(body.transactions.length - 1)
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const items = await readBatch({ db, relayerId: relayer.id, chain }, body, relayer)
      const accepted = await acceptBatch(relayer, { items, actor })
      return {
        data: accepted.map((item) => presentWithAttempts(item, chain)),
        logs: accepted.flatMap(({ logs }, index) => logs.map((log) => `transactions[${index}]: ${log}`)),
      }
    },
  }
}
