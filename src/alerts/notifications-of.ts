import type { Relayer } from '../relayers/relayer.ts'

/** Returns the ids of the notifications of relayers, each once. */
export function notificationsOf(relayers: readonly Pick<Relayer, 'notificationId'>[]): string[] {
  return [...new Set(relayers.flatMap(({ notificationId }) => notificationId ?? []))].sort()
}
