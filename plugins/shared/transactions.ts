import { createHash } from 'node:crypto'
import { callApi, type World } from './host.ts'

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
  /** What was asked for, where something else is shown, such as a no-op whose block may still be another. */
  readonly requested?: { readonly to?: string; readonly data?: string }
  /** The block that includes it; absent until one does. */
  readonly receipt?: { readonly block_number?: number; readonly ledger?: number; readonly slot?: number }
  /** Absent in lists. */
  readonly attempts?: readonly { readonly outcome: string }[]
}

/** Hashes texts so that no other list of texts has the same hash. */
export function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Finds a transaction that this plugin has sent. */
export async function findByKey<Sent extends SentTransaction>(
  relayerId: string,
  key: string,
  world: Pick<World, 'api'>,
): Promise<Sent | undefined> {
  const query = new URLSearchParams({ relayer_id: relayerId, idempotency_key: key })
  const found = await callApi(world, { method: 'GET', path: `/api/v1/transactions?${query}` })
  return Array.isArray(found) ? (found[0] as Sent | undefined) : undefined
}

/** Reads a transaction of a list with its attempts. */
export async function readWhole<Sent extends SentTransaction>(
  relayerId: string,
  { id }: Pick<Sent, 'id'>,
  world: Pick<World, 'api'>,
): Promise<Sent> {
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions/${id}`
  return (await callApi(world, { method: 'GET', path })) as Sent
}

/** True for a transaction that will not be executed, or was without effect. */
export function isEnded(status: string): boolean {
  return ['failed', 'canceled', 'expired'].includes(status)
}
