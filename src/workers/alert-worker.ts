import type { Logger } from 'pino'
import { type AlertKey, addressTo, decideChanges, type OpenAlert } from '../alerts/alert.ts'
import {
  beginAlerts,
  endAlerts,
  findOpenAlerts,
  findWatchedStates,
  readAlertReceivers,
  saveWatchedStates,
} from '../alerts/alerts-store.ts'
import { findFindings, type NamesOf } from '../alerts/findings.ts'
import {
  continueHeads,
  continuePeriods,
  type EndpointMemory,
  type EndpointSample,
  findDownEndpoints,
  findHaltedChains,
  type HeadSample,
  rememberEndpoints,
  statesToStore,
  type WatchedState,
} from '../alerts/watched-states.ts'
import type { Db } from '../database/db.ts'
import type { Clock } from '../lib/time.ts'
import type { HealthWorker } from './health-worker.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms between two samples of the endpoints, which cost nothing. */
const SAMPLE_MS = 5_000

/** Time in ms between two reads of the database. */
const LOOK_MS = 30_000

interface AlertWorkerDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /**
   * The process that checks the health of relayers is the only one that knows their balances, so only it
   * decides.
   */
  readonly health: Pick<HealthWorker, 'readings' | 'isLeading'>
  /** Returns the endpoints in use, each once, as they are now. */
  readonly endpoints: () => readonly EndpointSample[]
  /** Returns the networks in use, each once, with their newest heads. */
  readonly heads: () => readonly HeadSample[]
  /** Queries heads that were not queried recently, without waiting for the replies. */
  readonly pollHeads: () => void
  readonly namesOf: NamesOf
}

/**
 * Begins and ends alerts, in one process at a time. Every process keeps its knowledge of the heads current.
 */
export function createAlertWorker(deps: AlertWorkerDeps): Loop {
  const { db, clock, log, health, endpoints, heads, pollHeads, namesOf } = deps
  let memory: EndpointMemory = new Map()
  let lookAt = Number.NEGATIVE_INFINITY

  /** The states that are stored, while this process leads. */
  let stored: readonly WatchedState[] | undefined

  interface Seen {
    readonly samples: readonly EndpointSample[]
    readonly heads: readonly HeadSample[]
    readonly monotonic: number
    readonly now: Date
  }

  /** Continues where the previous leader ended, and stores states that last. */
  async function remember(samples: readonly EndpointSample[], monotonic: number): Promise<Seen> {
    const now = new Date(clock.now())
    stored ??= await findWatchedStates(db)
    memory = continuePeriods(memory, { stored, now, monotonic })
    const seen = { samples, heads: continueHeads(heads(), { stored, now }), monotonic, now }
    const states = statesToStore({ ...seen, memory, stored })
    if (stored.length > 0 || states.length > 0) await saveWatchedStates(db, states)
    stored = states
    return seen
  }

  async function look({ samples, heads, monotonic, now }: Seen): Promise<void> {
    // Firing alerts are read first, so that an alert that begins in another process is not ended by an older
    // check.
    const open = await findOpenAlerts(db)
    const found = await findFindings(db, { readings: health.readings(), now, namesOf })
    const all = [
      ...found,
      ...findDownEndpoints({ samples, memory, monotonic, now }),
      ...findHaltedChains(heads, now),
    ]
    const findings = addressTo(all, await readAlertReceivers(db))
    const changes = decideChanges({ findings, open, now })
    report('alert began', changes.begun, await beginAlerts(db, changes.begun))
    report('alert is over', changes.ended, await endAlerts(db, changes.ended))
  }

  function report(text: string, alerts: readonly OpenAlert[], written: readonly AlertKey[]): void {
    const names = new Set(written.map(nameOf))
    for (const alert of alerts)
      if (names.has(nameOf(alert))) log.warn({ alert: alert.kind, ...alert.detail }, text)
  }

  return createLoop({
    name: 'alerts',
    intervalMs: SAMPLE_MS,
    clock,
    log,
    work: async () => {
      pollHeads()
      const samples = endpoints()
      const monotonic = clock.monotonic()
      memory = rememberEndpoints(memory, samples, monotonic)
      if (!health.isLeading()) {
        stored = undefined
        return
      }
      const seen = await remember(samples, monotonic)
      if (monotonic < lookAt) return
      await look(seen)
      lookAt = monotonic + LOOK_MS
    },
  })
}

function nameOf({ kind, subject }: AlertKey): string {
  return `${kind} ${subject}`
}
