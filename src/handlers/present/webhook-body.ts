import { stringifyJson } from '../../contract/integers.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { EventRecord } from '../../events/event.ts'
import type { EventPresenter } from './event.ts'

/** The bodies of deliveries, byte for byte as they are signed and sent; the section `webhooks` of the contract. */
export function createBodyWriter(
  presentEvents: EventPresenter,
): (events: readonly EventRecord[]) => Promise<string[]> {
  return async (events) => (await presentEvents(events)).map(writeBody)
}

function writeBody({ id, type, payload, created_at }: Schemas['Event']): string {
  return stringifyJson({ id, event: type, payload, timestamp: created_at })
}
