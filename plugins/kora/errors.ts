import { ApiRefusal, Crowded, NodeError, Unavailable } from '../shared/host.ts'

/** The numbers of Kora's errors, and those of JSON-RPC. */
const CODES = {
  ParseError: -32_700,
  InvalidJsonRpc: -32_600,
  MethodNotFound: -32_601,
  InvalidParams: -32_602,
  InvalidTransaction: -32_000,
  ValidationError: -32_001,
  UnsupportedFeeToken: -32_002,
  InsufficientFunds: -32_003,
  InvalidRequest: -32_004,
  FeeEstimationFailed: -32_005,
  TransactionExecutionFailed: -32_006,
  SigningError: -32_020,
  RateLimitExceeded: -32_030,
  UsageLimitExceeded: -32_031,
  Unauthorized: -32_032,
  SwapError: -32_040,
  TokenOperationError: -32_041,
  AccountNotFound: -32_050,
  JitoError: -32_060,
  RecaptchaError: -32_061,
  InternalServerError: -32_090,
  ConfigError: -32_091,
  SerializationError: -32_092,
  RpcError: -32_093,
} as const

/** The name of an error. */
export type KoraErrorType = keyof typeof CODES

/** A failure that the caller sees, as an error of JSON-RPC. */
export class KoraError extends Error {
  readonly type: KoraErrorType
  /** Further fields of `data`, such as the id of a transaction. */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(type: KoraErrorType, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.type = type
    this.fields = fields
  }

  /** Returns the error as it is on the wire. */
  toJson(): object {
    const { type, message, fields } = this
    return { code: CODES[type], message, data: { error_type: type, message, ...fields } }
  }
}

/**
 * What the service's refusals mean to a client of Kora. Their sentences name the rule, the field or the
 * account.
 */
const TYPES: Readonly<Record<string, KoraErrorType>> = {
  account_not_found: 'AccountNotFound',
  already_accepted: 'InvalidTransaction',
  execution_reverted: 'TransactionExecutionFailed',
  fee_above_cap: 'ValidationError',
  fee_payer_at_risk: 'ValidationError',
  insufficient_balance: 'InsufficientFunds',
  invalid_request: 'InvalidTransaction',
  policy_violation: 'ValidationError',
  price_unavailable: 'FeeEstimationFailed',
  rate_limited: 'RateLimitExceeded',
  valid_until_in_past: 'InvalidTransaction',
}

/** Begins the sentences about limits: `user_limits[0].count`. */
const ABOUT_LIMITS = /\b(user_)?limits\b/

/** Converts any failure to an error for the caller; undefined for a defect, which only the log describes. */
export function toKoraError(error: unknown): KoraError | undefined {
  if (error instanceof KoraError) return error
  if (error instanceof Crowded) return new KoraError('RateLimitExceeded', error.message)
  if (error instanceof Unavailable) return new KoraError('RpcError', error.message)
  if (error instanceof NodeError) return new KoraError('InvalidTransaction', error.message)
  if (!(error instanceof ApiRefusal)) return undefined
  const { code, message } = error
  if (code === 'rule_violated')
    return new KoraError(ABOUT_LIMITS.test(message) ? 'UsageLimitExceeded' : 'ValidationError', message)
  const type = TYPES[code]
  return type === undefined
    ? // What the relayer has, may and lacks is the operator's business.
      new KoraError('InternalServerError', `The relayer does not answer this now: ${code}.`)
    : new KoraError(type, message, { code })
}
