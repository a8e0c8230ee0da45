import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Delivery, Exchange } from '../../notifications/delivery/delivery.ts'
import type { DeliveryOfEvent } from '../../notifications/delivery/delivery-store.ts'

/** Converts a delivery to the form of the contract in lists. */
export function presentDelivery({ delivery, event }: DeliveryOfEvent): Schemas['Delivery'] {
  const lastTry = sentIn(delivery)
  return omitUndefined({
    id: delivery.id,
    notification_id: delivery.notificationId,
    event_id: event.uid,
    event_number: String(event.number),
    event: event.type,
    transaction_id: event.transactionId,
    status: delivery.status,
    tries: delivery.tries,
    created_at: event.createdAt.toISOString(),
    tried_at: delivery.triedAt?.toISOString(),
    next_try_at: delivery.nextTryAt?.toISOString(),
    settled_at: delivery.settledAt?.toISOString(),
    response_code: lastTry?.response?.code,
    latency_ms: lastTry?.latencyMs,
    error: delivery.lastTry?.error,
  })
}

/** The same with what was sent and received. `body` is what the next try sends; earlier ones differ by no more than the ABIs of their time. */
export function presentWithExchange(item: DeliveryOfEvent, body: string): Schemas['DeliveryWithExchange'] {
  const lastTry = sentIn(item.delivery)
  return omitUndefined({
    ...presentDelivery(item),
    body,
    request: lastTry && { url: lastTry.url, headers: lastTry.headers },
    response: lastTry?.response,
  })
}

/** The newest exchange; undefined for a delivery that was never sent. */
function sentIn({ lastTry }: Delivery): Exchange | undefined {
  return lastTry !== undefined && 'url' in lastTry ? lastTry : undefined
}
