import { createHash } from 'node:crypto'
import { callApi, type World } from '../shared/host.ts'
import type { Payment } from './scheme.ts'
import type { PaymentRequest } from './wire.ts'

/** A transaction as the service shows it; the fields that are read here. */
export interface SentTransaction {
  readonly id: string
  readonly status: string
  readonly status_reason?: string
  readonly created_at: string
  /** The hash, or on Solana the signature; absent until it is signed. */
  readonly hash?: string
  readonly to?: string
  readonly data?: string
  /** The block that includes it; absent until one does. */
  readonly receipt?: { readonly block_number?: number; readonly ledger?: number; readonly slot?: number }
  /** Absent in lists. */
  readonly attempts?: readonly { readonly outcome: string }[]
}

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

/** Hashes texts so that no other list of texts has the same hash. */
export function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Finds a transaction that this plugin has sent. */
export async function findByKey(
  relayerId: string,
  key: string,
  world: Pick<World, 'api'>,
): Promise<SentTransaction | undefined> {
  const query = new URLSearchParams({ relayer_id: relayerId, idempotency_key: key })
  const found = await callApi(world, { method: 'GET', path: `/api/v1/transactions?${query}` })
  return Array.isArray(found) ? (found[0] as SentTransaction | undefined) : undefined
}

/** Reads a transaction of a list with its attempts. */
export async function readWhole(
  relayerId: string,
  { id }: SentTransaction,
  world: Pick<World, 'api'>,
): Promise<SentTransaction> {
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions/${id}`
  return (await callApi(world, { method: 'GET', path })) as SentTransaction
}

/** True for a transaction that will not be executed, or was without effect. */
export function isEnded(status: string): boolean {
  return ['failed', 'canceled', 'expired'].includes(status)
}
