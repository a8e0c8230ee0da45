import type { RelayerEvent, Schemas } from '../../../../clients/typescript/src/index.ts'
import type { Route } from '../../routing/routes.ts'

/** The states of a transaction, in the order of its life. */
export const STATUSES = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
] as const satisfies readonly Schemas['TransactionStatus'][]

/** The types of networks. */
export const NETWORK_TYPES = ['evm', 'stellar', 'solana'] as const satisfies readonly Schemas['NetworkType'][]

/** Which transactions a list has. An absent condition does not count. */
export interface TransactionFilter {
  readonly status?: (typeof STATUSES)[number]
  readonly relayer_id?: string
  readonly network_type?: (typeof NETWORK_TYPES)[number]
  /** Who receives, also a token, or is called. */
  readonly to?: string
}

/** Reads the filter of a route. A status or a type that does not exist does not count. */
export function readFilter({ query }: Route): TransactionFilter {
  const status = STATUSES.find((known) => known === query.status)
  const type = NETWORK_TYPES.find((known) => known === query.type)
  return {
    ...(status && { status }),
    ...(query.relayer && { relayer_id: query.relayer }),
    ...(type && { network_type: type }),
    ...(query.to && { to: query.to }),
  }
}

/**
 * Tells whether a list may look otherwise after an event. The status does not count: a transaction that leaves the list has another one by then.
 */
export function mayChange(
  { relayer_id, network_type, to }: TransactionFilter,
  { type, payload }: RelayerEvent,
): boolean {
  if (type !== 'transaction_update' || payload.payload_type !== 'transaction') return false
  const receivers = [
    payload.network_type === 'evm' ? payload.to : undefined,
    ...(payload.transfers ?? []).map((transfer) => transfer.to),
  ]
  return (
    (relayer_id === undefined || payload.relayer_id === relayer_id) &&
    (network_type === undefined || payload.network_type === network_type) &&
    (to === undefined || receivers.some((one) => one?.toLowerCase() === to.toLowerCase()))
  )
}
