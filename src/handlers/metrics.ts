import type { HandlerMap } from '../contract/operations.ts'
import { AppError } from '../errors.ts'

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
  /** Undefined when metrics are off. */
  readonly metrics: MetricsReader | undefined
}

/** The operations of the tag Metrics on the main port. The metrics server answers them on its own port. */
export function metricsHandlers({
  metrics,
}: MetricsHandlerDeps): Pick<HandlerMap, 'listMetrics' | 'metricDetail' | 'scrapeMetrics'> {
  const reader = () => {
    if (metrics === undefined) throw new AppError('not_found', 'This deployment collects no metrics.')
    return metrics
  }
  const all = async () => ({ status: 200, ...(await reader().read()) }) as const
  return {
    listMetrics: async (_input, { mediaType }) =>
      mediaType === 'application/json' ? { status: 200, body: reader().names() } : all(),
    metricDetail: async ({ path }) => {
      const found = await reader().readOne(path.metric_name)
      if (found === undefined) throw new AppError('not_found', `There is no metric ${path.metric_name}.`)
      return { status: 200, ...found }
    },
    scrapeMetrics: all,
  }
}
