import { networkOf } from '../relayers/network-of.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { Finding } from './alert.ts'
import { notificationsOf } from './notifications-of.ts'

/** Finds the relayers that the service has disabled. Pure. */
export function findDisabledRelayers(relayers: readonly Relayer[]): Finding[] {
  return relayers
    .filter(({ systemDisabled }) => systemDisabled)
    .map((relayer) => ({
      kind: 'relayer_disabled',
      subject: relayer.id,
      state: 'firing',
      notifications: notificationsOf([relayer]),
      detail: {
        message: `The service has disabled relayer ${relayer.id}. ${relayer.disabledReason?.details ?? 'A health check failed.'} Remove the cause; the service then enables it by itself.`,
        network: networkOf(relayer),
        relayer_id: relayer.id,
      },
    }))
}
