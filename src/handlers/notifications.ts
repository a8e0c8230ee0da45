import { ALL_RELAYERS, type Visibility } from '../access/principal.ts'
import type { Input, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Delivery, Exchange } from '../notifications/delivery/delivery.ts'
import {
  type DeliveryOfEvent,
  findDelivery,
  listDeliveries,
} from '../notifications/delivery/delivery-store.ts'
import type { Selection } from '../notifications/delivery/redeliver-store.ts'
import { maskWebhookUrl, type NamedTransactions, type Notification } from '../notifications/notification.ts'
import { bodyFor } from '../notifications/receivers/requests.ts'
import { findNotification, listNotifications } from '../notifications/store.ts'
import { toPage } from './present/shared.ts'
import type { CoreParts, EventParts, Service } from './service.ts'

type NotificationOperation =
  | 'listNotifications'
  | 'createNotification'
  | 'getNotification'
  | 'updateNotification'
  | 'deleteNotification'

/** The operations of the tag Notifications. */
export function notificationHandlers({
  db,
  notifications,
}: CoreParts & EventParts): Pick<HandlerMap, NotificationOperation> {
  return {
    listNotifications: async ({ query }, { principal }) => {
      const page = toPage(query)
      const { items, total } = await listNotifications(db, page, principal.visibility)
      return { data: items.map(presentNotification), pagination: page.describe(total) }
    },
    createNotification: async ({ body }, { actor }) => {
      const { signing_key: signingKey, integration_key: integrationKey, transactions: named, ...rest } = body
      const request = { ...rest, signingKey, integrationKey, transactions: named && namedTransactions(named) }
      return { data: presentNotification(await notifications.create(request, actor)) }
    },
    getNotification: async ({ path }, { principal }) => ({
      data: presentNotification(await requireNotification(db, path.notification_id, principal.visibility)),
    }),
    updateNotification: async ({ path, body }, { actor }) => {
      const { signing_key: signingKey, integration_key: integrationKey, transactions: named, ...rest } = body
      const transactions = named && namedTransactions(named)
      const patch = {
        ...rest,
        transactions,
        integrationKey,
        signingKey: signingKey === '' ? null : signingKey,
      }
      return { data: presentNotification(await notifications.update(path.notification_id, patch, actor)) }
    },
    deleteNotification: async ({ path }, { actor }) => {
      await notifications.delete(path.notification_id, actor)
      return { data: 'Notification deleted successfully' }
    },
  }
}

/** @throws AppError 404 `notification_not_found` */
async function requireNotification(db: Db, id: string, visibility?: Visibility): Promise<Notification> {
  const notification = await findNotification(db, id, visibility)
  if (notification === undefined)
    throw new AppError('notification_not_found', `There is no notification ${id}.`)
  return notification
}

function namedTransactions({
  reference,
  requested_by,
}: Schemas['NotificationTransactions']): NamedTransactions {
  return { reference, requestedBy: requested_by }
}

/** Converts a notification to the form of the contract. */
function presentNotification(notification: Notification): Schemas['Notification'] {
  const { id, type, alerts, transactions, paused } = notification
  const hasSigningKey = type === 'webhook' && notification.hasSigningKey
  const url = maskWebhookUrl(notification)
  const state = paused === undefined ? {} : { paused: true as const, paused_reason: paused }
  return omitUndefined({
    id,
    type,
    url,
    has_signing_key: hasSigningKey,
    alerts: alerts && [...alerts],
    transactions: transactions && {
      reference: transactions.reference,
      requested_by: transactions.requestedBy,
    },
    ...state,
  })
}

/** The default overlap of two keys, in seconds: a day. */
const DEFAULT_OVERLAP_SECONDS = 86_400

type DeliveryOperation =
  | 'listDeliveries'
  | 'getDelivery'
  | 'redeliverDelivery'
  | 'redeliverDeliveries'
  | 'sendTestEvent'
  | 'pauseNotification'
  | 'resumeNotification'
  | 'rotateSigningKey'

/** The operations of the tag Deliveries. An id in a path scopes everything below it. */
export function deliveryHandlers(service: Service): Pick<HandlerMap, DeliveryOperation> {
  return { ...seeing(service), ...controls(service) }
}

function seeing({ db, controls, bodiesOf, publicUrl }: CoreParts & EventParts) {
  const show = async ({ notification, ...item }: FoundDelivery) => {
    const [body = ''] = await bodiesOf([item.event])
    return { data: presentWithExchange(item, bodyFor(notification, body, publicUrl)) }
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

function controls({ db, controls, keys }: CoreParts & EventParts) {
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
      const { id, type } = await requireNotification(db, path.notification_id)
      if (type !== 'webhook')
        throw new AppError('not_supported', `Notification ${id} of type ${type} signs nothing.`)
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

interface FoundDelivery extends DeliveryOfEvent {
  readonly notification: Notification
}

async function requireDelivery(
  db: Db,
  path: Input<'getDelivery'>['path'],
  visibility = ALL_RELAYERS,
): Promise<FoundDelivery> {
  const notification = await requireNotification(db, path.notification_id, visibility)
  const { id } = notification
  const item = await findDelivery(db, id, { deliveryId: path.delivery_id, visibility })
  if (item === undefined)
    throw new AppError('delivery_not_found', `Notification ${id} has no delivery ${path.delivery_id}.`)
  return { ...item, notification }
}

/** Converts a delivery to the form of the contract in lists. */
function presentDelivery({ delivery, event }: DeliveryOfEvent): Schemas['Delivery'] {
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

/**
 * The same with what was sent and received. `body` is what the next try sends; earlier ones differ by no more
 * than the ABIs of their time.
 */
function presentWithExchange(item: DeliveryOfEvent, body: string): Schemas['DeliveryWithExchange'] {
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
