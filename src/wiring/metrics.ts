import type { Logger } from 'pino'
import { countAlerts } from '../alerts/alerts-store.ts'
import type { EndpointReport } from '../chains/answer.ts'
import type { Chain } from '../chains/chain.ts'
import type { Config } from '../config/types.ts'
import type { Database } from '../database/db.ts'
import { type Replication, readReplication } from '../database/durability.ts'
import { countLeases } from '../database/lease.ts'
import { createMetricsServer } from '../http/observability/metrics-server.ts'
import type { Clock } from '../lib/time.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'
import type { EndpointState, HeadAge, StateSource } from '../metrics/state.ts'
import { haltedAfterMs } from '../networks/head-age.ts'
import { countDead, countUntriedEvents, findOldestWaiting } from '../notifications/delivery/delivery-store.ts'
import { countDisabled } from '../relayers/health/health-store.ts'
import { countByStatus } from '../transactions/store/finished-store.ts'
import type { Loop } from '../workers/loop.ts'
import type { NetworkHead } from './chains-in-use.ts'

interface Observed {
  readonly database: Database
  /** Identifies this process in leases. */
  readonly owner: string
  readonly loops: () => readonly Loop[]
  readonly readings: StateSource['readings']
  /** The chains in use, with the name of their network. */
  readonly chains: () => readonly { readonly network: string; readonly chain: Chain }[]
  readonly heads: () => readonly NetworkHead[]
}

/** The metrics and the server that serves them. */
export interface Instrumentation extends Omit<Metrics, 'watch'> {
  /** Sets the sources of the gauges. */
  watch(observed: Observed): void
  /** Starts to listen; rejects when the port is in use. Undefined if the metrics have no port. */
  listen(): Promise<{ url: string } | undefined>
  close(): Promise<void>
}

/**
 * Creates the metrics. Undefined if they are neither served nor exported: then no observer exists and nothing
 * is counted.
 */
export function createInstrumentation(
  { metrics: settings, server: { host } }: Config,
  { isExported, ...deps }: { readonly clock: Clock; readonly log: Logger; readonly isExported: boolean },
): Instrumentation | undefined {
  if (settings === undefined && !isExported) return undefined
  const metrics = createMetrics(deps)
  const server = settings && createMetricsServer({ host, ...settings, metrics, log: deps.log })
  return {
    ...metrics,
    watch: ({ database, owner, loops, readings, chains, heads }) =>
      metrics.watch({
        workers: () => loops().map((loop) => loop.health()),
        readings,
        endpoints: () => chains().flatMap(endpointsOf),
        heads: () => heads().flatMap(headAgeOf),
        stored: async () => {
          const { db } = database
          // The queries run one after the other, so that metrics use at most one connection.
          const transactions = await countByStatus(db, new Date(deps.clock.now()))
          const eventsLag = await countUntriedEvents(db)
          const oldestWaiting = await findOldestWaiting(db)
          const deadLetters = await countDead(db)
          const { byType: disabledRelayers } = await countDisabled(db)
          const alerts = await countAlerts(db)
          const leases = await countLeases(db, owner)
          const synchronous = asNumber(await readReplication(database))
          return {
            transactions,
            eventsLag,
            oldestWaiting,
            deadLetters,
            disabledRelayers,
            alerts,
            leases,
            synchronous,
          }
        },
      }),
    listen: async () => {
      const address = await server?.listen()
      return address && { url: `http://${address.host}:${address.port}/metrics` }
    },
    close: async () => server?.close(),
  }
}

/** The server tells nothing where there is no standby that it knows, or none that may be seen. */
function asNumber(replication: Replication | undefined): 0 | 1 | undefined {
  if (replication === undefined || replication === 'none' || replication === 'unknown') return undefined
  return replication === 'synchronous' ? 1 : 0
}

function headAgeOf({ network, state }: NetworkHead): HeadAge[] {
  if (state === undefined) return []
  const limitMs = haltedAfterMs(network)
  return [
    {
      network: network.name,
      ageSeconds: state.ageMs / 1_000,
      limitSeconds: limitMs === undefined ? undefined : limitMs / 1_000,
    },
  ]
}

function endpointsOf({
  network,
  chain,
}: {
  readonly network: string
  readonly chain: Chain
}): EndpointState[] {
  const report = (endpoints: readonly EndpointReport[], isPrivate: boolean) =>
    endpoints.map(({ host, healthy }) => ({ network, host, up: healthy, isPrivate }))
  return [...report(chain.endpoints(), false), ...report(chain.privateBroadcast?.endpoints() ?? [], true)]
}
