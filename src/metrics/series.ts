import type { Registry } from 'prom-client'

/** A metric with its values; those of a histogram are its buckets (label `le`), `…_sum` and `…_count`, as in the text format. */
export interface MetricSeries {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly values: readonly {
    /** The name of the value, which differs from that of the metric in histograms. */
    readonly name: string
    readonly labels: Readonly<Record<string, string | number>>
    readonly value: number
  }[]
}

const KINDS = ['counter', 'gauge', 'histogram'] as const

/** Reads all metrics of a registry as data. */
export async function readSeries(registry: Registry): Promise<MetricSeries[]> {
  const metrics = await registry.getMetricsAsJSON()
  return metrics.flatMap(({ name, help, type, values }): MetricSeries[] => {
    // prom-client declares a number here and gives the name of the type.
    const kind = KINDS.find((known) => known === String(type))
    if (kind === undefined) return []
    return [{ name, help, kind, values: values.map((one) => toValue(name, one)) }]
  })
}

interface PromValue {
  readonly value: number
  readonly metricName?: string
  readonly labels: Partial<Record<string, string | number>>
}

function toValue(
  name: string,
  { value, metricName = name, labels }: PromValue,
): MetricSeries['values'][number] {
  const present = Object.entries(labels).flatMap(([label, text]) =>
    text === undefined ? [] : [[label, text]],
  )
  return { name: metricName, value, labels: Object.fromEntries(present) }
}
