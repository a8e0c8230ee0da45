import type { HandlerMap, Schemas } from '../contract/operations.ts'

/** A report on everything that readiness depends on. */
export interface HealthReport {
  readonly database: Schemas['DatabaseHealth']
  readonly networks: Schemas['ComponentHealth']
  readonly workers: Schemas['ComponentHealth']
  readonly relayers: Schemas['ComponentHealth']
  readonly at: Date
}

/** The parts of the service that these operations call. */
export interface HealthHandlerDeps {
  readonly check: () => Promise<HealthReport>
  /** The signal aborts when the service begins to stop. */
  readonly stopping: AbortSignal
}

/** The operations of the tag Health. They need no credential, and they reveal only which parts work. */
export function healthHandlers({
  check,
  stopping,
}: HealthHandlerDeps): Pick<HandlerMap, 'getHealth' | 'getReadiness'> {
  return {
    getHealth: async () => ({ status: 200, body: 'OK' }),
    getReadiness: async () => {
      const { at, ...components } = await check()
      const status = stopping.aborted ? 'unhealthy' : overall(components)
      const body = { ready: status !== 'unhealthy', status, components, timestamp: at.toISOString() }
      const reason = stopping.aborted ? 'The service is stopping.' : reasonOf(components)
      return {
        status: status === 'unhealthy' ? 503 : 200,
        body: reason === undefined ? body : { ...body, reason },
      }
    },
  }
}

type Components = Omit<HealthReport, 'at'>

/** The service accepts nothing without the database; some work waits without a network, a worker or a relayer. */
function overall({ database, ...others }: Components): Schemas['HealthStatus'] {
  if (database.status === 'unhealthy') return 'unhealthy'
  return Object.values(others).every(({ status }) => status === 'healthy') ? 'healthy' : 'degraded'
}

function reasonOf(components: Components): string | undefined {
  const failing = Object.entries(components).filter(([, { status }]) => status !== 'healthy')
  return failing.length === 0 ? undefined : `Not healthy: ${failing.map(([name]) => name).join(', ')}.`
}
