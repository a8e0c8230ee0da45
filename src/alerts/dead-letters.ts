import type { Finding } from './alert.ts'

/** Finds the notifications with dead letters, by their number. Pure. */
export function findDeadLetters(deadLetters: ReadonlyMap<string, number>): Finding[] {
  return [...deadLetters].map(([id, count]) => ({
    kind: 'delivery_dead',
    subject: id,
    state: 'firing',
    notifications: [id],
    detail: {
      message: `The deliveries of notification ${id} that were given up: ${count}. Repair its receiver, then send them again with redeliverDeliveries.`,
      notification_id: id,
      value: String(count),
    },
  }))
}
