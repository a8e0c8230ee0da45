import { digest } from '../shared/transactions.ts'
import type { Payment } from './scheme.ts'
import type { PaymentRequest } from './wire.ts'

/** A payment that someone asks for. */
export interface Asked {
  readonly request: PaymentRequest
  readonly payment: Payment
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/**
 * Names a payment by network, asset, payer and nonce, or what its chain has in their place. It is the
 * idempotency key of the payment's transaction, which the service stores with it: so the transaction is the
 * only record of a payment, every process finds it, after any crash, and there is never a second one.
 */
export function paymentKey({ request, payment }: Pick<Asked, 'request' | 'payment'>): string {
  return `x402:${digest([request.network.network, ...payment.identity])}`
}
