import { Gauge, type Registry } from 'prom-client'
import type { HealthReading } from '../relayers/health/health.ts'
import { createBoundedLabel, type Labels, setGauge } from './series.ts'
import type { StatusCount, StoredState, WorkerState } from './state.ts'

/** Sets the gauges of the current state. */
interface StateMetrics {
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
  const { answers, lag, synchronous, ...lists } = createStoredGauges(registry)
  return (state) => {
    for (const gauge of Object.values(lists)) gauge.reset()
    answers.set(state === undefined ? 0 : 1)
    if (state?.eventsLag === undefined) lag.remove()
    else lag.set(state.eventsLag)
    if (state?.synchronous === undefined) synchronous.remove()
    else synchronous.set(state.synchronous)
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
    synchronous: new Gauge({
      name: 'database_synchronous',
      help: '1: a standby of PostgreSQL has every answered commit; 0: none must have it, or none is there. Absent where the server does not tell.',
      registers,
    }),
    answers: new Gauge({
      name: 'database_answers',
      help: '0: the database did not answer in time, so its values are missing.',
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

/** The bounded labels of the stored state. */
interface StateLabels extends Labels {
  readonly notification: (id: string) => string
}

/** A state that was read at a time, in ms since the epoch. */
interface ReadState {
  readonly state: StoredState
  readonly now: number
}

/** Statuses of transactions that no block includes yet. */
const WAITING: ReadonlySet<string> = new Set(['pending', 'sent', 'submitted'])

/**
 * Creates the gauges of waiting work, with the age of the oldest item. Without a state they have no series.
 */
function createAgeMetrics(registry: Registry, labels: StateLabels): (read: ReadState | undefined) => void {
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
      help: 'Time since the acceptance, the later valid_from, or the end of its wait for another transaction, of the oldest transaction that no block includes and that waits for no approval, no time and no other one; the same from every process on the database.',
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

const LABELS = ['relayer_id', 'network_type', 'network'] as const

/** Creates the gauges of what the health checks of this process read; other processes show none of them. */
export function createRelayerMetrics(
  registry: Registry,
  { relayer, network }: Labels,
): (readings: readonly HealthReading[]) => void {
  const registers = [registry]
  const balance = new Gauge({
    name: 'relayer_balance',
    help: 'Balance that the relayer can spend, in whole coins of its network (ETH, XLM, SOL), as the last health check read it. other: the lowest.',
    labelNames: LABELS,
    registers,
  })
  const nonceGap = new Gauge({
    name: 'relayer_nonce_gap',
    help: 'Next nonce that the service assigns minus the next one of the chain, as the last health check read them. Negative: another program uses the account.',
    labelNames: LABELS,
    registers,
  })
  return (readings) => {
    const valuesOf = (field: 'balance' | 'nonceGap') =>
      readings.flatMap((reading) => {
        const value = reading[field]
        if (value === undefined) return []
        const { relayerId, networkType } = reading
        const labels = {
          relayer_id: relayer(relayerId),
          network_type: networkType,
          network: network(reading.network),
        }
        return [{ labels, value }]
      })
    setGauge(balance, valuesOf('balance'), Math.min)
    setGauge(nonceGap, valuesOf('nonceGap'), furtherFromZero)
  }
}

function furtherFromZero(one: number, other: number): number {
  return Math.abs(other) > Math.abs(one) ? other : one
}
