import {
  ExecutionRevertedError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RateLimitedError,
  RelayerApiError,
  UnauthorizedError,
} from '../errors/api-error.ts'
import { RelayerConnectionError } from '../errors/connection-error.ts'
import { TransactionEndedError, TransactionUnseenError } from '../errors/transaction-errors.ts'
import { PROVIDER_CODES, ProviderRpcError } from './provider-rpc-error.ts'

/** Translates an error of the client; another one stays as it is. */
export function toProviderError(error: unknown): unknown {
  if (error instanceof RelayerApiError) {
    const { code, status, requestId, message } = error
    return new ProviderRpcError(codeOf(error), message, { data: { code, status, requestId }, cause: error })
  }
  if (error instanceof RelayerConnectionError) {
    const { mayHaveArrived, idempotencyKey, message } = error
    const data = { mayHaveArrived, idempotencyKey }
    return new ProviderRpcError(PROVIDER_CODES.disconnected, message, { data, cause: error })
  }
  if (error instanceof TransactionEndedError) {
    const { id: transactionId, status } = error.transaction
    // It ended before anything was signed: someone has canceled it, or has refused to approve it.
    const code = status === 'canceled' ? PROVIDER_CODES.userRejected : PROVIDER_CODES.transactionRejected
    return new ProviderRpcError(code, error.message, { data: { transactionId, status }, cause: error })
  }
  if (error instanceof TransactionUnseenError) {
    const { transactionId, message } = error
    const reason = toProviderError(error.cause)
    const code = reason instanceof ProviderRpcError ? reason.code : PROVIDER_CODES.internal
    return new ProviderRpcError(code, message, { data: { transactionId }, cause: error })
  }
  return error
}

const GAS_CODES: ReadonlySet<unknown> = new Set([
  'gas_limit_required',
  'gas_limit_too_low',
  'gas_limit_too_high',
])

function codeOf(error: RelayerApiError): number {
  const { code, status } = error
  if (error instanceof UnauthorizedError || error instanceof ForbiddenError)
    return PROVIDER_CODES.unauthorized
  if (error instanceof NotFoundError) return PROVIDER_CODES.unauthorized
  if (error instanceof ExecutionRevertedError) return PROVIDER_CODES.executionReverted
  if (error instanceof InvalidRequestError || GAS_CODES.has(code)) return PROVIDER_CODES.invalidParams
  if (error instanceof RateLimitedError) return PROVIDER_CODES.limitExceeded
  if (code === 'network_unavailable') return PROVIDER_CODES.disconnected
  if (code === 'signer_unavailable') return PROVIDER_CODES.resourceUnavailable
  return status >= 500 ? PROVIDER_CODES.internal : PROVIDER_CODES.transactionRejected
}
