import type { ErrorCode } from '../../errors.ts'

/** The HTTP status of a failure. The interface has texts for all but 403, 405, 409 and 503. */
export type FailureStatus = 400 | 401 | 403 | 404 | 405 | 409 | 429 | 500 | 503

/** The table gives each error code its HTTP status. Nothing else in the service decides the status of a failure. */
export const STATUS_OF_CODE: Readonly<Record<ErrorCode, FailureStatus>> = {
  unauthorized: 401,
  rate_limited: 429,
  method_not_allowed: 405,

  insufficient_scope: 403,
  own_approval: 403,

  not_found: 404,
  api_key_not_found: 404,
  approval_not_found: 404,
  delivery_not_found: 404,
  network_not_found: 404,
  notification_not_found: 404,
  abi_not_found: 404,
  relayer_not_found: 404,
  signer_not_found: 404,
  transaction_not_found: 404,

  already_exists: 409,
  approval_decided: 409,
  idempotency_key_reused: 409,

  internal_error: 500,
  network_unavailable: 500,
  request_timeout: 500,
  signer_unavailable: 500,

  database_unavailable: 503,

  account_not_found: 400,
  account_taken: 400,
  already_accepted: 400,
  body_too_large: 400,
  chain_not_reset: 400,
  execution_reverted: 400,
  fee_above_cap: 400,
  fee_payer_at_risk: 400,
  gas_limit_required: 400,
  gas_limit_too_high: 400,
  gas_limit_too_low: 400,
  gas_price_above_cap: 400,
  headers_too_large: 400,
  in_use: 400,
  insufficient_balance: 400,
  invalid_json: 400,
  invalid_request: 400,
  json_too_deep: 400,
  json_too_many_values: 400,
  not_supported: 400,
  policy_beyond_ceiling: 400,
  policy_violation: 400,
  receiver_not_whitelisted: 400,
  relayer_disabled: 400,
  relayer_has_transactions: 400,
  relayer_paused: 400,
  replacement_underpriced: 400,
  request_too_slow: 400,
  report_too_large: 400,
  rule_violated: 400,
  signer_refused: 400,
  transaction_not_replaceable: 400,
  unknown_network: 400,
  unsupported_content_type: 400,
  valid_until_in_past: 400,
  wrong_chain: 400,
  wrong_network_type: 400,
}
