import type { ChainRequest } from '../../chains/request.ts'
import { isExternallySigned, type RelayerRuntime } from './runtime.ts'
import type { Transaction } from './transaction.ts'

/** The source account and the nonce of a transaction. */
export interface ContentNonce {
  readonly sourceAccount: string | undefined
  readonly nonce: bigint | undefined
}

/**
 * Gives the nonce that the transaction has when this request becomes its content: the one that a third party signed, otherwise its present
 * one. A nonce of a third party is useless for other content, so the service assigns a new one later.
 */
export function contentNonce(
  runtime: RelayerRuntime,
  transaction: Transaction,
  request: ChainRequest,
): ContentNonce {
  const externalNonce = runtime.chain.externalSigning?.nonceOf(request)
  if (externalNonce) return { sourceAccount: externalNonce.address, nonce: externalNonce.nonce }
  if (isExternallySigned(runtime, transaction)) return { sourceAccount: undefined, nonce: undefined }
  const { sourceAccount, nonce } = transaction
  return { sourceAccount, nonce }
}

/** Returns true when the transaction has this nonce. */
export function hasNonce(transaction: Transaction, { sourceAccount, nonce }: ContentNonce): boolean {
  return transaction.nonce === nonce && transaction.sourceAccount === sourceAccount
}
