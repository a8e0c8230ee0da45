import { AppError } from '../../errors.ts'
import { unprovenAttempts } from '../model/open-attempts.ts'
import { isExternallySigned, type TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import type { Change } from './replacement.ts'

/**
 * Refuses every change of externally signed content but a higher fee: the nonce belongs to a third party, so this service cannot sign other
 * content for it. Returns undefined when the change is allowed.
 */
export function refuseExternallySigned(
  context: TransactionsContext,
  { relayer, request }: Change,
  { transaction, attempts }: TransactionWithAttempts,
): AppError | undefined {
  const runtime = context.runtimeOf(relayer)
  const externalNonce = request && runtime.chain.externalSigning?.nonceOf(request)
  const { sourceAccount, nonce } = transaction
  if (!isExternallySigned(runtime, transaction)) {
    if (externalNonce === undefined) return undefined
    return new AppError(
      'not_supported',
      'transaction_xdr: a transaction that a third party signed has its own sequence number and cannot replace this transaction.',
    )
  }
  if (request === undefined) {
    if (unprovenAttempts(attempts).length === 0) return undefined
    return new AppError(
      'not_supported',
      `Its sequence number belongs to ${sourceAccount}, who has signed it; only that account can cancel it.`,
    )
  }
  if (externalNonce?.address === sourceAccount && externalNonce?.nonce === nonce) return undefined
  return new AppError(
    'not_supported',
    `transaction_xdr: the same signed transaction is expected, with a higher max_fee; sequence number ${nonce} belongs to ${sourceAccount}.`,
  )
}
