import { Gauge, type Registry } from 'prom-client'
import { createAgeMetrics, type ReadState, type StateLabels } from './age-metrics.ts'
import { createBoundedLabel, type Labels } from './bounded-label.ts'
import type { StoredState, WorkerState } from './state.ts'

/** Sets the gauges of the present state. */
export interface StateMetrics {
  /** Without a state the gauges are cleared, so that an old number does not look like a new one. */
  setStored(read: ReadState | undefined): void
  setWorkers(workers: readonly WorkerState[]): void
}

/** Creates gauges that are set when metrics are read. */
export function createStateMetrics(registry: Registry, labels: Labels): StateMetrics {
  const stateLabels = { ...labels, notification: createBoundedLabel() }
  const setCounts = createCounts(registry, stateLabels)
  const setAges = createAgeMetrics(registry, stateLabels)
  return {
    setStored: (read) => {
      setCounts(read?.state)
      setAges(read)
    },
    setWorkers: createWorkerMetrics(registry),
  }
}

function createCounts(registry: Registry, labels: StateLabels): (state: StoredState | undefined) => void {
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
      lists.deadLetters.inc({ notification_id: labels.notification(id) }, count)
    for (const [reason, count] of state.disabledRelayers) lists.disabledRelayers.set({ reason }, count)
    for (const [alert, count] of state.alerts) lists.alerts.set({ alert }, count)
    for (const [kind, count] of state.leases) lists.leases.set({ kind }, count)
  }
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
    alerts: new Gauge({
      name: 'relayer_alerts',
      help: 'Alerts that fire, by kind; the same from every process on the database.',
      labelNames: ['alert'],
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
