/** A stable word for programs that names one kind of failure. The contract lists exactly these codes. */
export type ErrorCode =
  | 'account_not_found'
  | 'account_taken'
  | 'already_accepted'
  | 'already_exists'
  | 'api_key_not_found'
  | 'approval_decided'
  | 'approval_not_found'
  | 'body_too_large'
  | 'chain_id_mismatch'
  | 'chain_not_reset'
  | 'database_unavailable'
  | 'delivery_not_found'
  | 'execution_reverted'
  | 'fee_above_cap'
  | 'fee_payer_at_risk'
  | 'gas_limit_required'
  | 'gas_limit_too_high'
  | 'gas_limit_too_low'
  | 'gas_price_above_cap'
  | 'headers_too_large'
  | 'idempotency_key_reused'
  | 'in_use'
  | 'insufficient_balance'
  | 'insufficient_scope'
  | 'internal_error'
  | 'invalid_json'
  | 'invalid_request'
  | 'json_too_deep'
  | 'json_too_many_values'
  | 'method_not_allowed'
  | 'network_not_found'
  | 'network_unavailable'
  | 'not_found'
  | 'not_supported'
  | 'notification_not_found'
  | 'abi_not_found'
  | 'own_approval'
  | 'payment_required'
  | 'plugin_failed'
  | 'plugin_not_found'
  | 'plugin_timeout'
  | 'plugin_unavailable'
  | 'policy_beyond_ceiling'
  | 'policy_violation'
  | 'rate_limited'
  | 'price_unavailable'
  | 'receiver_not_whitelisted'
  | 'relayer_disabled'
  | 'relayer_has_transactions'
  | 'relayer_not_found'
  | 'relayer_paused'
  | 'replacement_underpriced'
  | 'report_too_large'
  | 'request_timeout'
  | 'request_too_slow'
  | 'rule_violated'
  | 'session_not_found'
  | 'second_person_required'
  | 'proposal_not_found'
  | 'schedule_not_found'
  | 'signer_not_found'
  | 'signer_refused'
  | 'signer_unavailable'
  | 'transaction_not_found'
  | 'transaction_not_included'
  | 'transaction_not_replaceable'
  | 'transaction_not_undecided'
  | 'unauthorized'
  | 'unknown_network'
  | 'unsupported_content_type'
  | 'valid_until_in_past'
  | 'wrong_chain'
  | 'wrong_network_type'

interface AppErrorOptions {
  /** The cause stays inside the process: the log shows it, and no caller sees it. */
  readonly cause?: unknown
  /** A whole number of seconds after which the caller can try again. */
  readonly retryAfterSeconds?: number
  /** The methods of the path, for `method_not_allowed`. */
  readonly allowedMethods?: readonly string[]
}

/**
 * AppError is a failure that the service expects. `detail` is a sentence for the caller: it names the field,
 * the expected value or the next step, and it leaves the process. Anything else that is thrown is an internal
 * error, and the caller learns nothing about it.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly detail: string
  readonly retryAfterSeconds: number | undefined
  readonly allowedMethods: readonly string[] | undefined

  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(detail, { cause: options.cause })
    this.code = code
    this.detail = detail
    this.retryAfterSeconds = options.retryAfterSeconds
    this.allowedMethods = options.allowedMethods
  }
}

/** Makes the failure for a method that a path does not have, or not now. */
export function methodNotAllowed(allowedMethods: readonly string[]): AppError {
  const detail = `This path answers ${allowedMethods.join(', ')}.`
  return new AppError('method_not_allowed', detail, { allowedMethods })
}

/**
 * Makes the failure for an unexpected fault. The request id leads from the answer to the log line with the
 * cause.
 */
export function internalError(cause: unknown): AppError {
  const detail = 'Something went wrong in the service. The X-Request-Id header identifies the log entry.'
  return new AppError('internal_error', detail, { cause })
}

/**
 * Returns the error of a request that names a relayer that does not exist, or that its API key does not see.
 */
export function relayerNotFound(id: string): AppError {
  return new AppError('relayer_not_found', `There is no relayer ${id}.`)
}
