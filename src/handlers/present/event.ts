import type { AlertNotice } from '../../alerts/alert.ts'
import { readAlertNotices } from '../../alerts/alerts-store.ts'
import { stringifyJson } from '../../contract/exact-integers.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import { type EventRecord, TRANSACTION_EVENTS } from '../../events/event.ts'
import { omitUndefined } from '../../lib/object.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import { type RelayerSnapshot, readRelayerSnapshots } from '../../relayers/store.ts'
import { readScheduleNotices } from '../../schedules/schedules-store.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import { readSnapshots } from '../../transactions/store/event-payload-store.ts'
import { withDecodedCalls } from './decoded-calls.ts'
import { presentRelayer } from './shared.ts'
import { presentTransaction } from './transaction.ts'

interface EventPresenterDeps {
  readonly db: Db
  /** Of these relayers, by id, without those that were removed. */
  readonly runtimesOf: (relayerIds: readonly string[]) => Promise<ReadonlyMap<string, RelayerRuntime>>
}

/** Shows events as the contract does, in the order given. */
export type EventPresenter = (events: readonly EventRecord[]) => Promise<Schemas['Event'][]>

/** Reads the snapshots of many events with one query. */
export function createEventPresenter({ db, runtimesOf }: EventPresenterDeps): EventPresenter {
  return async (events) => {
    const ofTypes = (...types: EventRecord['type'][]) => events.filter((event) => types.includes(event.type))
    const numbersOf = (type: EventRecord['type']) => ofTypes(type).map(({ number }) => number)
    const [transactions, relayers, schedules, alerts, runtimes] = await Promise.all([
      readSnapshots(db, ofTypes(...TRANSACTION_EVENTS)),
      readRelayerSnapshots(db, numbersOf('relayer_state_update')),
      readScheduleNotices(db, numbersOf('schedule_update')),
      readAlertNotices(db, numbersOf('alert')),
      runtimesOf(withPools(events.flatMap(({ relayerId }) => relayerId ?? []))),
    ])
    const chainOf = (relayerId: string) => runtimes.get(relayerId)?.chain
    const numbers = [...transactions.keys()]
    const shown = [...transactions.values()].map((item) =>
      presentTransaction(item, chainOf(item.transaction.relayerId)),
    )
    const decoded = await withDecodedCalls(db, shown, chainOf)
    const presented = new Map(numbers.map((number, index) => [number, decoded[index]]))
    return events.map((event) =>
      omitUndefined({
        number: String(event.number),
        id: event.uid,
        type: event.type,
        created_at: event.createdAt.toISOString(),
        relayer_id: event.relayerId && poolIdOf(event.relayerId),
        transaction_id: event.transactionId,
        payload: payloadOf(event, { transactions: presented, relayers, schedules, alerts, runtimes }),
      }),
    )
  }
}

/** Further accounts have the chain of their relayer, under whose id transactions are shown. */
export function withPools(relayerIds: readonly string[]): string[] {
  return [...new Set(relayerIds.flatMap((id) => [id, poolIdOf(id)]))]
}

interface Snapshots {
  readonly runtimes: ReadonlyMap<string, RelayerRuntime>
  readonly transactions: ReadonlyMap<bigint, Schemas['Transaction'] | undefined>
  readonly relayers: ReadonlyMap<bigint, RelayerSnapshot>
  readonly schedules: ReadonlyMap<bigint, Schemas['SchedulePayload']>
  readonly alerts: ReadonlyMap<bigint, AlertNotice>
}

function payloadOf(
  event: EventRecord,
  { transactions, relayers, schedules, alerts, runtimes }: Snapshots,
): Schemas['EventPayload'] {
  switch (event.type) {
    case 'transaction_update':
    case 'transaction_undecided':
    case 'transaction_stuck':
    case 'transaction_reorganized': {
      const shown = transactions.get(event.number)
      if (shown === undefined) throw new Error(`event ${event.number} has no transaction`)
      return { payload_type: 'transaction', ...shown }
    }
    case 'relayer_state_update': {
      const snapshot = relayers.get(event.number)
      if (snapshot === undefined) throw new Error(`event ${event.number} has no relayer`)
      return presentRelayerState(snapshot, runtimes.get(snapshot.relayer.id))
    }
    case 'schedule_update': {
      const notice = schedules.get(event.number)
      if (notice === undefined) throw new Error(`event ${event.number} has no schedule`)
      return notice
    }
    case 'alert': {
      const notice = alerts.get(event.number)
      if (notice === undefined) throw new Error(`event ${event.number} has no alert`)
      return { payload_type: 'alert', ...notice }
    }
    case 'notification_test':
      return { payload_type: 'test', notification_id: event.notificationId ?? '' }
  }
}

function presentRelayerState(
  snapshot: RelayerSnapshot,
  runtime: RelayerRuntime | undefined,
): Schemas['EventPayload'] {
  const relayer = presentRelayer(snapshot.relayer, runtime)
  const { systemDisabled, disabledReason } = snapshot.relayer
  if (!systemDisabled || disabledReason === undefined) {
    return { payload_type: 'relayer_enabled', relayer, retry_count: snapshot.failedChecks }
  }
  return { payload_type: 'relayer_disabled', relayer, disable_reason: disabledReason }
}

/**
 * Creates the writer of webhook bodies. The service signs and sends these bytes; the section `webhooks` of
 * the contract describes them.
 */
export function createBodyWriter(
  presentEvents: EventPresenter,
): (events: readonly EventRecord[]) => Promise<string[]> {
  return async (events) => (await presentEvents(events)).map(writeBody)
}

function writeBody({ id, type, payload, created_at }: Schemas['Event']): string {
  return stringifyJson({ id, event: type, payload, timestamp: created_at })
}
