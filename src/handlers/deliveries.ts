import { EVERYTHING } from '../access/visibility.ts'
import type { HandlerMap, Input } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { DeliveryControls } from '../notifications/delivery/controls.ts'
import type { BodyWriter } from '../notifications/delivery/deliver.ts'
import {
  type DeliveryOfEvent,
  findDelivery,
  listDeliveries,
} from '../notifications/delivery/delivery-store.ts'
import type { Selection } from '../notifications/delivery/redeliver-store.ts'
import type { SigningKeys } from '../notifications/keys.ts'
import { presentNotification, requireNotification } from './notifications.ts'
import { presentDelivery, presentWithExchange } from './present/delivery.ts'
import { toPage } from './present/page.ts'

/** The default overlap of two keys, in seconds: a day. */
const DEFAULT_OVERLAP_SECONDS = 86_400

/** The parts of the service that these operations call. */
export interface DeliveryHandlerDeps {
  readonly db: Db
  readonly controls: DeliveryControls
  readonly keys: SigningKeys
  readonly bodiesOf: BodyWriter
}

type Operations =
  | 'listDeliveries'
  | 'getDelivery'
  | 'redeliverDelivery'
  | 'redeliverDeliveries'
  | 'sendTestEvent'
  | 'pauseNotification'
  | 'resumeNotification'
  | 'rotateSigningKey'

/** The operations of the tag Deliveries. An id in a path scopes everything below it. */
export function deliveryHandlers(deps: DeliveryHandlerDeps): Pick<HandlerMap, Operations> {
  return { ...seeing(deps), ...controls(deps) }
}

function seeing({ db, controls, bodiesOf }: DeliveryHandlerDeps) {
  const show = async (item: DeliveryOfEvent) => {
    const [body = ''] = await bodiesOf([item.event])
    return { data: presentWithExchange(item, body) }
  }
  return {
    listDeliveries: async ({ path, query }, { principal: { visibility } }) => {
      await requireNotification(db, path.notification_id, visibility)
      const page = toPage(query)
      const wanted = { notificationId: path.notification_id, status: query.status, visibility }
      const { items, total } = await listDeliveries(db, { ...wanted, ...page })
      return { data: items.map(presentDelivery), pagination: page.describe(total) }
    },
    getDelivery: async ({ path }, { principal }) =>
      show(await requireDelivery(db, path, principal.visibility)),
    redeliverDelivery: async ({ path }, { actor }) => {
      const { event } = await requireDelivery(db, path)
      await controls.redeliver(path.notification_id, { kind: 'one', eventNumber: event.number }, actor)
      return show(await requireDelivery(db, path))
    },
  } satisfies Partial<HandlerMap>
}

function controls({ db, controls, keys }: DeliveryHandlerDeps) {
  return {
    redeliverDeliveries: async ({ path, body }, { actor }) => {
      const { id } = await requireNotification(db, path.notification_id)
      return { data: await controls.redeliver(id, selectionOf(body), actor) }
    },
    sendTestEvent: async ({ path }, { actor }) => {
      const { id } = await requireNotification(db, path.notification_id)
      return { data: { event_id: await controls.test(id, actor) } }
    },
    pauseNotification: async ({ path }, { actor }) => {
      const { id } = await requireNotification(db, path.notification_id)
      await controls.pause(id, actor)
      return { data: presentNotification(await requireNotification(db, id)) }
    },
    resumeNotification: async ({ path }, { actor }) => {
      const { id } = await requireNotification(db, path.notification_id)
      await controls.resume(id, actor)
      return { data: presentNotification(await requireNotification(db, id)) }
    },
    rotateSigningKey: async ({ path, body }, { actor }) => {
      const { id } = await requireNotification(db, path.notification_id)
      const overlapMs = (body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS) * 1000
      const expires = await keys.rotate(id, { text: body.signing_key, overlapMs }, actor)
      return { data: omitUndefined({ notification_id: id, previous_key_expires_at: expires?.toISOString() }) }
    },
  } satisfies Partial<HandlerMap>
}

function selectionOf(body: Input<'redeliverDeliveries'>['body']): Selection {
  if ('status' in body) return { kind: 'dead' }
  return { kind: 'range', from: BigInt(body.from), to: BigInt(body.to) }
}

async function requireDelivery(
  db: Db,
  path: Input<'getDelivery'>['path'],
  visibility = EVERYTHING,
): Promise<DeliveryOfEvent> {
  const { id } = await requireNotification(db, path.notification_id, visibility)
  const item = await findDelivery(db, id, { deliveryId: path.delivery_id, visibility })
  if (item === undefined)
    throw new AppError('delivery_not_found', `Notification ${id} has no delivery ${path.delivery_id}.`)
  return item
}
