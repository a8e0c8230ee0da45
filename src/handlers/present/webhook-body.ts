import { stringifyJson } from '../../contract/exact-integers.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { EventRecord } from '../../events/event.ts'
import type { EventPresenter } from './event.ts'

/** Creates the writer of webhook bodies. The service signs and sends these bytes; the section `webhooks` of the contract describes them. */
export function createBodyWriter(
  presentEvents: EventPresenter,
): (events: readonly EventRecord[]) => Promise<string[]> {
  return async (events) => (await presentEvents(events)).map(writeBody)
}

function writeBody({ id, type, payload, created_at }: Schemas['Event']): string {
  return stringifyJson({ id, event: type, payload, timestamp: created_at })
}
