import { seesEverything } from '../access/principal.ts'
import { beginNotice } from '../alerts/alert.ts'
import { listAlerts } from '../alerts/alerts-store.ts'
import type { Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap, RequestContext } from '../http/handler.ts'
import { packageVersion } from '../lib/package-files.ts'
import { toPage } from './present/shared.ts'
import type { CoreParts, HealthReport, MetricsText, Service } from './service.ts'

/** The operations of the tag Health. They need no credential, and they reveal only which parts work. */
export function healthHandlers({
  check,
  stopping,
}: Pick<Service, 'check' | 'stopping'>): Pick<HandlerMap, 'getHealth' | 'getReadiness'> {
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

/** The operation that says which release answers. A caller without a key does not learn it. */
export function versionHandlers(): Pick<HandlerMap, 'getVersion'> {
  const version = packageVersion()
  return { getVersion: async () => ({ data: { version } }) }
}

type Components = Omit<HealthReport, 'at'>

/**
 * The service accepts nothing without the database; some work waits without a network, a worker or a relayer.
 */
function overall({ database, ...others }: Components): Schemas['HealthStatus'] {
  if (database.status === 'unhealthy') return 'unhealthy'
  return Object.values(others).every(({ status }) => status === 'healthy') ? 'healthy' : 'degraded'
}

function reasonOf(components: Components): string | undefined {
  const failing = Object.entries(components).filter(([, { status }]) => status !== 'healthy')
  return failing.length === 0 ? undefined : `Not healthy: ${failing.map(([name]) => name).join(', ')}.`
}

/** The operations of the tag Metrics on the main port. The metrics server answers them on its own port. */
export function metricsHandlers({
  visibleIds,
  metrics,
}: Pick<Service, 'visibleIds' | 'metrics'>): Pick<
  HandlerMap,
  'listMetrics' | 'metricDetail' | 'scrapeMetrics'
> {
  const reader = () => {
    if (metrics === undefined) throw new AppError('not_found', 'This deployment collects no metrics.')
    return metrics
  }
  const show = async (text: MetricsText, { principal: { visibility } }: RequestContext) => {
    if (seesEverything(visibility)) return { status: 200, ...text } as const
    const ids = new Set(await visibleIds(visibility))
    return { status: 200, ...text, body: visibleSeries(text.body, ids) } as const
  }
  return {
    listMetrics: async (_input, context) =>
      context.mediaType === 'application/json'
        ? { status: 200, body: reader().names() }
        : show(await reader().read(), context),
    metricDetail: async ({ path }, context) => {
      const found = await reader().readOne(path.metric_name)
      if (found === undefined) throw new AppError('not_found', `There is no metric ${path.metric_name}.`)
      return show(found, context)
    },
    scrapeMetrics: async (_input, context) => show(await reader().read(), context),
  }
}

/** A line with a sample: the name of the metric, its labels, its value. */
const SAMPLE = /^(\w+)\{(.*)\} /

const RELAYER_LABEL = /(?:^|,)relayer_id="([^"]*)"/

/** A line that describes a metric. */
const DESCRIPTION = /^# (?:HELP|TYPE) /

/**
 * Removes the samples of other relayers from a metrics text, and those without a relayer, which count what
 * all keys do. A metric without samples loses its description as well.
 */
function visibleSeries(text: string, relayerIds: ReadonlySet<string>): string {
  const shown: string[] = []
  let descriptions: string[] = []
  for (const line of text.split('\n')) {
    if (DESCRIPTION.test(line)) {
      if (line.startsWith('# HELP ')) descriptions = []
      descriptions.push(line)
    } else if (isOf(line, relayerIds)) {
      shown.push(...descriptions, line)
      descriptions = []
    }
  }
  return shown.map((line) => `${line}\n`).join('')
}

function isOf(line: string, relayerIds: ReadonlySet<string>): boolean {
  const [, , labels = ''] = SAMPLE.exec(line) ?? []
  const [, id] = RELAYER_LABEL.exec(labels) ?? []
  return id !== undefined && relayerIds.has(id)
}

/** The operation that lists alerts. */
export function alertHandlers({ db }: CoreParts): Pick<HandlerMap, 'listAlerts'> {
  return {
    listAlerts: async ({ query }, { principal: { visibility } }) => {
      const page = toPage(query)
      const { offset, limit } = page
      const { items, total } = await listAlerts(db, { visibility, offset, limit })
      return { data: items.map(beginNotice), pagination: page.describe(total) }
    },
  }
}
