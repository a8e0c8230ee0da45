import { NodeError, Unavailable } from '../shared/host.ts'

/**
 * Reasons that x402's specification lists in section 9, those that its schemes add, and ours for limits of
 * the operator.
 */
export type Reason =
  | GeneralReason
  | `invalid_exact_evm_${string}`
  | `invalid_exact_svm_${string}`
  | `invalid_exact_stellar_${string}`
  | `invalid_permit2_${string}`
  | `invalid_upto_evm_${string}`
  | `invalid_batch_settlement_evm_${string}`
  | `permit2_${string}`
  | `eip2612_${string}`
  | `erc20_approval_${string}`

type GeneralReason =
  | 'duplicate_settlement'
  | 'eip6492_factory_not_allowed'
  | 'erc7710_manager_not_allowed'
  | 'insufficient_funds'
  | 'invalid_eip2612_extension_format'
  | 'invalid_erc20_approval_extension_format'
  | 'invalid_network'
  | 'invalid_payload'
  | 'invalid_payment_requirements'
  | 'invalid_scheme'
  | 'invalid_transaction_state'
  | 'invalid_x402_version'
  | 'limit_exceeded'
  | 'payee_not_allowed'
  | 'settlement_pending'
  | 'unexpected_settle_error'
  | 'unexpected_verify_error'
  | 'unsupported_asset'
  | 'unsupported_scheme'
  | 'upto_facilitator_mismatch'

/**
 * Says why a payment is not settled. The answer is still HTTP 200: `invalidReason` of a verification,
 * `errorReason` of a settlement.
 */
export class Refusal extends Error {
  /** For programs; resource servers pass it on to the payer. */
  readonly reason: Reason
  /** The account that pays, as soon as it is known. */
  readonly payer: string | undefined

  /** `message` is a sentence for a person and may repeat what the request contains. */
  constructor(reason: Reason, message: string, payer?: string) {
    super(message)
    this.reason = reason
    this.payer = payer
  }
}

/**
 * Reads the chain for a verification. If that fails, nothing is wrong with the payment, and the refusal says
 * so.
 */
export async function reading<Result>(payer: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Unavailable || error instanceof NodeError)
      throw new Refusal('unexpected_verify_error', `The network cannot be read: ${error.message}`, payer)
    throw error
  }
}
