import { createHash } from 'node:crypto'

/** A UUID of version 8 (RFC 9562): 60 bits of a hash of the notification, then 60 bits of the event number. */
const ID = /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-8([0-9a-f]{3})-([0-9a-f]{12})$/i

/** Derives the id of a delivery, so that it needs no row before its first try and no index after it. */
export function deliveryId(notificationId: string, eventNumber: bigint): string {
  const hash = hashOf(notificationId)
  const number = eventNumber.toString(16).padStart(15, '0')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(12)}-8${number.slice(0, 3)}-${number.slice(3)}`
}

/** Reads the event number from a derived id; undefined for any other text, and for the id of another notification's delivery. */
export function eventNumberOf(notificationId: string, id: string): bigint | undefined {
  const [, first, second, third, high, low] = ID.exec(id) ?? []
  const hash = `${first}${second}${third}`.toLowerCase()
  return hash === hashOf(notificationId) ? BigInt(`0x${high}${low}`) : undefined
}

function hashOf(notificationId: string): string {
  return createHash('sha256').update(notificationId).digest('hex').slice(0, 15)
}
