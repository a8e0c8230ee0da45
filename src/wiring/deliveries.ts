import type { Logger } from 'pino'
import type { Config } from '../config/types.ts'
import type { Database } from '../database/db.ts'
import type { EventNotifier } from '../events/notifier.ts'
import { createBodyWriter, type EventPresenter } from '../handlers/present/event.ts'
import type { Clock } from '../lib/time.ts'
import { MAX_CONCURRENT } from '../notifications/delivery/capacity.ts'
import { createDeliveryControls, type DeliveryControls } from '../notifications/delivery/controls.ts'
import type { DeliveryObserver, DeliveryTracer } from '../notifications/delivery/delivery.ts'
import type { BodyWriter } from '../notifications/delivery/reader.ts'
import { DUE_CHANNEL } from '../notifications/delivery/redeliver-store.ts'
import { createSigningKeys, type SigningKeys } from '../notifications/keys.ts'
import { createNotificationManager, type NotificationManager } from '../notifications/manage.ts'
import { createMailer } from '../notifications/receivers/mail.ts'
import { relayersTelling } from '../relayers/store.ts'
import { createGuardedHttpClient } from '../security/guarded-http-client.ts'
import type { Sealer } from '../security/secrets.ts'
import { createDeliverWorker } from '../workers/deliver-worker.ts'
import type { Loop } from '../workers/loop.ts'
import { createHousekeepingWorker } from '../workers/periodic-workers.ts'

interface DeliveriesOptions {
  readonly config: Config
  readonly database: Database
  readonly presentEvents: EventPresenter
  /** Seals signing keys for storage; undefined without a STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** Identifies this process in leases. */
  readonly owner: string
  /** Tells of events. */
  readonly notifier: EventNotifier
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: DeliveryObserver | undefined
  /** Undefined if traces are off. */
  readonly tracer?: DeliveryTracer | undefined
  /** The name servers that resolve the hosts of urls; undefined for those of the system. */
  readonly nameServers?: readonly string[] | undefined
}

/** The parts that deliver events to receivers, created and not yet started. */
export interface Deliveries {
  readonly loops: readonly Loop[]
  readonly controls: DeliveryControls
  readonly notifications: NotificationManager
  readonly keys: SigningKeys
  readonly bodiesOf: BodyWriter
  /** Lets notifications of the database wake the loops. The returned function ends it. */
  listen(): Promise<() => Promise<void>>
  /** Closes the clients. Call it after the loops have stopped. */
  close(): Promise<void>
}

/** Creates the parts, and stores the signing keys that are new in the configuration. */
export async function createDeliveries(options: DeliveriesOptions): Promise<Deliveries> {
  const { config, database, owner, clock, log, observer, tracer } = options
  const { db } = database
  const windowMs = config.webhooks.retryMs
  const { timeoutMs } = config.webhooks
  const keys = createKeys(options)
  await keys.adopt()
  // The operator trusts the urls of the configuration file, and a receiver on the same machine is common.
  const names = { servers: options.nameServers }
  // With fewer, each burst of deliveries would open and close connections.
  const idleSockets = MAX_CONCURRENT
  const httpClient = createGuardedHttpClient(
    { allowPrivate: true },
    { names: { ...names, asksSystem: true }, idleSockets },
  )
  const policy = { allowPrivate: config.allowPrivateUrls, mail: config.mail }
  const guardedClient = createGuardedHttpClient(policy, { names, idleSockets })
  const bodiesOf = createBodyWriter(options.presentEvents)
  const deliver = createDeliverWorker({
    db,
    clock,
    log,
    owner,
    keys,
    httpClient,
    guardedClient,
    bodiesOf,
    timeoutMs,
    windowMs,
    random: Math.random,
    observer,
    tracer,
    mailer: config.mail && createMailer(config.mail),
    publicUrl: config.publicUrl,
    onEvents: options.notifier.subscribe,
  })
  const housekeeping = createHousekeepingWorker({
    database,
    clock,
    log,
    owner,
    eventRetentionMs: config.eventRetentionMs,
    transactionRetentionMs: config.transactionRetentionMs,
  })
  return {
    loops: [deliver, housekeeping],
    controls: createDeliveryControls({ db, windowMs }),
    notifications: createNotificationManager({ db, keys, policy, windowMs, usersOf: relayersTelling }),
    keys,
    bodiesOf,
    listen: async () => {
      const subscriptions = [await database.listen(DUE_CHANNEL, deliver.wakeForChange)]
      return async () => {
        for (const unlisten of subscriptions) await unlisten()
      }
    },
    close: async () => {
      httpClient.close()
      guardedClient.close()
    },
  }
}

function createKeys({ config, database, sealer }: DeliveriesOptions): SigningKeys {
  return createSigningKeys({
    db: database.db,
    sealer,
    configured: new Map(
      config.notifications.flatMap(({ id, signingKey }) => (signingKey ? [[id, signingKey.reveal()]] : [])),
    ),
  })
}
