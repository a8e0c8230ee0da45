import { seesEverything, type Visibility } from '../access/visibility.ts'
import type { HandlerMap, RequestContext } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import { visibleSeries } from './visible-series.ts'

/** Metrics as text, with the media type of the text. */
interface MetricsText {
  readonly contentType: string
  readonly body: string
}

/** Reads the metrics of this process. */
interface MetricsReader {
  read(): Promise<MetricsText>
  names(): readonly string[]
  /** Returns undefined for a name that no metric has. */
  readOne(name: string): Promise<MetricsText | undefined>
}

/** The parts of the service that these operations call. */
export interface MetricsHandlerDeps {
  /** Lists the ids of the relayers that a key sees. */
  readonly visibleIds: (visibility: Visibility) => Promise<readonly string[]>
  /** Undefined when metrics are off. */
  readonly metrics: MetricsReader | undefined
}

/** The operations of the tag Metrics on the main port. The metrics server answers them on its own port. */
export function metricsHandlers({
  visibleIds,
  metrics,
}: MetricsHandlerDeps): Pick<HandlerMap, 'listMetrics' | 'metricDetail' | 'scrapeMetrics'> {
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
