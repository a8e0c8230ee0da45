import { AppError } from '../../errors.ts'
import { unprovenAttempts } from '../model/open-attempts.ts'
import { isExternallySigned, type TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import type { Change } from './replacement.ts'

/**
 * What somebody else has signed for a nonce of theirs can be paid more, and nothing else: no other content of ours could
 * take its place.
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
      'transaction_xdr: what somebody else has signed has a sequence number of its own and cannot replace this transaction.',
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
