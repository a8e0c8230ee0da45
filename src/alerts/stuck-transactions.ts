import type { Finding } from './alert.ts'

/** A transaction that blocks its account. */
export interface StuckTransaction {
  readonly id: string
  readonly relayerId: string
  /** By type and name. */
  readonly network: string
  readonly notificationId?: string | undefined
  readonly since: Date
}

/** Describes the transactions that are stuck. Pure. */
export function findStuckTransactions(stuck: readonly StuckTransaction[]): Finding[] {
  return stuck.map(({ id, relayerId, network, notificationId, since }) => ({
    kind: 'transaction_stuck',
    subject: id,
    state: 'firing',
    since,
    notifications: notificationId === undefined ? [] : [notificationId],
    detail: {
      message: `Transaction ${id} blocks the account of relayer ${relayerId}. Read its diagnosis, then replace or cancel it.`,
      network,
      relayer_id: relayerId,
      transaction_id: id,
    },
  }))
}
