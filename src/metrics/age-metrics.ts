import { Gauge, type Registry } from 'prom-client'
import type { Labels } from './bounded-label.ts'
import { setGauge } from './set-gauge.ts'
import type { StatusCount, StoredState } from './state.ts'

/** The bounded labels of the stored state. */
export interface StateLabels extends Labels {
  readonly notification: (id: string) => string
}

/** A state that was read at a time, in ms since the epoch. */
export interface ReadState {
  readonly state: StoredState
  readonly now: number
}

/** Statuses of transactions that no block includes yet. */
const WAITING: ReadonlySet<string> = new Set(['pending', 'sent', 'submitted'])

/** Creates the gauges of what waits, with the age of its oldest part. Without a state they have no series. */
export function createAgeMetrics(
  registry: Registry,
  labels: StateLabels,
): (read: ReadState | undefined) => void {
  const { transaction, delivery } = createGauges(registry)
  return (read) => {
    const { transactions = [], oldestWaiting = [] } = read?.state ?? {}
    const ageOf = (since: Date) => Math.max(0, (read?.now ?? 0) - since.getTime()) / 1000
    const open = transactions.flatMap((one) => {
      const since = waitingSince(one)
      const series = { relayer_id: labels.relayer(one.relayerId), network_type: one.networkType }
      return since === undefined ? [] : [{ labels: series, value: ageOf(since) }]
    })
    const waiting = [...oldestWaiting].map(([id, since]) => ({
      labels: { notification_id: labels.notification(id) },
      value: ageOf(since),
    }))
    setGauge(transaction, open, Math.max)
    setGauge(delivery, waiting, Math.max)
  }
}

function waitingSince({ status, oldestAt }: StatusCount): Date | undefined {
  return WAITING.has(status) ? oldestAt : undefined
}

function createGauges(registry: Registry) {
  const registers = [registry]
  return {
    transaction: new Gauge({
      name: 'oldest_open_transaction_age_seconds',
      help: 'Time since the acceptance, or the later valid_from, of the oldest transaction that no block includes and that waits for no approval and no time; the same from every process on the database.',
      labelNames: ['relayer_id', 'network_type'],
      registers,
    }),
    delivery: new Gauge({
      name: 'webhook_delivery_lag_seconds',
      help: 'Age of the oldest event that waits for its delivery, retries included; the same from every process. Absent for paused notifications.',
      labelNames: ['notification_id'],
      registers,
    }),
  }
}
