import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deliveryId, eventNumberOf } from '../../../src/notifications/delivery/delivery-store.ts'

const number = fc.bigInt({ min: 1n, max: 2n ** 60n - 1n })

test('an id names its event, and is a UUID of version 8', () => {
  fc.assert(
    fc.property(fc.string(), number, (notification, event) => {
      const id = deliveryId(notification, event)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(eventNumberOf(notification, id)).toBe(event)
      expect(eventNumberOf(notification, id.toUpperCase())).toBe(event)
      expect(eventNumberOf(`${notification}.`, id)).toBeUndefined()
    }),
  )
})

test.each(['', 'nothing', '7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d', deliveryId('ops', 1n).slice(1)])(
  '%j names no event',
  (id) => {
    expect(eventNumberOf('ops', id)).toBeUndefined()
  },
)
