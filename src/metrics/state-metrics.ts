import { Gauge, type Registry } from 'prom-client'
import { createBoundedLabel, type Labels } from './bounded-label.ts'
import { setGauge } from './set-gauge.ts'
import type { StatusCount, StoredState, WorkerState } from './state.ts'

/** A state that was read at a time, in ms since the epoch. */
interface ReadState {
  readonly state: StoredState
  readonly now: number
}

/** Sets the gauges of the present state. */
export interface StateMetrics {
  /** Without a state the gauges are cleared, so that an old number does not look like a new one. */
  setStored(read: ReadState | undefined): void
  setWorkers(workers: readonly WorkerState[]): void
}

/** Creates gauges that are set when metrics are read. */
export function createStateMetrics(registry: Registry, labels: Labels): StateMetrics {
  const notificationLabel = createBoundedLabel()
  const setCounts = createCounts(registry, labels, notificationLabel)
  const setAges = createAges(registry, labels, notificationLabel)
  return {
    setStored: (read) => {
      setCounts(read?.state)
      setAges(read)
    },
    setWorkers: createWorkerMetrics(registry),
  }
}

function createCounts(
  registry: Registry,
  labels: Labels,
  notificationLabel: (id: string) => string,
): (state: StoredState | undefined) => void {
  const { answers, lag, ...lists } = createStoredGauges(registry)
  return (state) => {
    for (const gauge of Object.values(lists)) gauge.reset()
    answers.set(state === undefined ? 0 : 1)
    if (state?.eventsLag === undefined) lag.remove()
    else lag.set(state.eventsLag)
    if (state === undefined) return
    // Counts are added, because several relayers may share the label `other`.
    for (const { relayerId, networkType, status, count } of state.transactions) {
      const series = { relayer_id: labels.relayer(relayerId), network_type: networkType, status }
      lists.transactions.inc(series, count)
    }
    for (const [id, count] of state.deadLetters)
      lists.deadLetters.inc({ notification_id: notificationLabel(id) }, count)
    for (const [reason, count] of state.disabledRelayers) lists.disabledRelayers.set({ reason }, count)
    for (const [kind, count] of state.leases) lists.leases.set({ kind }, count)
  }
}

/** Statuses of transactions that no block includes yet. */
const WAITING: ReadonlySet<string> = new Set(['pending', 'sent', 'submitted'])

/** Creates the gauges of what waits, with the age of its oldest part. */
function createAges(
  registry: Registry,
  labels: Labels,
  notificationLabel: (id: string) => string,
): StateMetrics['setStored'] {
  const registers = [registry]
  const transaction = new Gauge({
    name: 'oldest_open_transaction_age_seconds',
    help: 'Time since the acceptance of the oldest transaction that no block includes; the same from every process on the database.',
    labelNames: ['relayer_id', 'network_type'],
    registers,
  })
  const delivery = new Gauge({
    name: 'webhook_delivery_lag_seconds',
    help: 'Age of the oldest event that waits for its delivery, retries included; the same from every process. Absent for paused notifications.',
    labelNames: ['notification_id'],
    registers,
  })
  return (read) => {
    const { state, now } = read ?? { now: 0 }
    const age = (since: Date) => Math.max(0, now - since.getTime()) / 1000
    const open = (state?.transactions ?? []).flatMap(({ relayerId, networkType, ...rest }) => {
      const since = waitingSince(rest)
      if (since === undefined) return []
      return [
        { labels: { relayer_id: labels.relayer(relayerId), network_type: networkType }, value: age(since) },
      ]
    })
    setGauge(transaction, open, Math.max)
    const waiting = [...(state?.oldestWaiting ?? [])].map(([id, since]) => {
      return { labels: { notification_id: notificationLabel(id) }, value: age(since) }
    })
    setGauge(delivery, waiting, Math.max)
  }
}

function waitingSince({ status, oldestAt }: Pick<StatusCount, 'status' | 'oldestAt'>): Date | undefined {
  return WAITING.has(status) ? oldestAt : undefined
}

function createStoredGauges(registry: Registry) {
  const registers = [registry]
  return {
    transactions: new Gauge({
      name: 'transactions_by_status',
      help: 'Transactions in the database; the same from every process on it.',
      labelNames: ['relayer_id', 'network_type', 'status'],
      registers,
    }),
    deadLetters: new Gauge({
      name: 'webhook_dead_letters',
      help: 'Deliveries that were given up and not sent again; the same from every process.',
      labelNames: ['notification_id'],
      registers,
    }),
    disabledRelayers: new Gauge({
      name: 'relayers_disabled',
      help: 'Relayers that the service has disabled; the same from every process on the database.',
      labelNames: ['reason'],
      registers,
    }),
    leases: new Gauge({
      name: 'leases_held',
      help: 'Leases of this process, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    lag: new Gauge({
      name: 'events_relay_lag',
      help: 'Events whose delivery was never tried; the same from every process. Absent without notifications.',
      registers,
    }),
    answers: new Gauge({
      name: 'database_answers',
      help: '0: the database did not answer in time, so the values that it stores are missing.',
      registers,
    }),
  }
}

/** Creates one series for each kind of worker, with the worst value of its members. */
function createWorkerMetrics(registry: Registry): StateMetrics['setWorkers'] {
  const registers = [registry]
  const labelNames = ['worker'] as const
  const quiet = new Gauge({
    name: 'worker_quiet_seconds',
    help: 'Time since the last successful round of a worker; the longest of its kind.',
    labelNames,
    registers,
  })
  const failing = new Gauge({
    name: 'workers_failing',
    help: 'Workers whose last round failed.',
    labelNames,
    registers,
  })
  return (workers) => {
    for (const [worker, members] of Map.groupBy(workers, kindOf)) {
      quiet.set({ worker }, Math.max(...members.map(({ quietMs }) => quietMs)) / 1000)
      failing.set({ worker }, members.filter(({ error }) => error !== undefined).length)
    }
  }
}

function kindOf({ name }: WorkerState): string {
  return name.split(' ', 1)[0] ?? name
}
