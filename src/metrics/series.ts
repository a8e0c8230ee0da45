import type { Gauge, LabelValues, Registry } from 'prom-client'

/**
 * A metric with its values; those of a histogram are its buckets (label `le`), `…_sum` and `…_count`, as in
 * the text format.
 */
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
    // prom-client declares a number here but returns the name of the type.
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

/** The label of all values beyond the limit. */
export const OTHER = 'other'

/**
 * The number of different values of a label that keep their names. Each value creates series in memory, here
 * and in Prometheus.
 */
const MAX_VALUES = 100

/**
 * Limits a label whose values come from the configuration or the database and may be many. The first hundred
 * values keep their names for the life of the process; all others become `other`.
 */
export function createBoundedLabel(limit: number = MAX_VALUES): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return OTHER
    known.add(value)
    return value
  }
}

/** The bounded labels that several metrics share: a relayer that has its name in one metric has it in all. */
export interface Labels {
  readonly relayer: (id: string) => string
  readonly network: (name: string) => string
}

/** Creates the shared labels. */
export function createLabels(): Labels {
  return { relayer: createBoundedLabel(), network: createBoundedLabel() }
}

/** Limits a label to values that are known in advance. */
export function createFixedLabel(values: readonly string[]): (value: string) => string {
  const known = new Set(values)
  return (value) => (known.has(value) ? value : OTHER)
}

interface Value<L extends string> {
  readonly labels: LabelValues<L>
  readonly value: number
}

/**
 * Replaces all series of a gauge. Several values may have the same labels, because those beyond a limit share
 * the label `other`; `choose` then selects the one that an alert needs.
 */
export function setGauge<L extends string>(
  gauge: Gauge<L>,
  values: readonly Value<L>[],
  choose: (one: number, other: number) => number,
): void {
  gauge.reset()
  const chosen = new Map<string, Value<L>>()
  for (const { labels, value } of values) {
    const key = JSON.stringify(labels)
    const before = chosen.get(key)
    chosen.set(key, { labels, value: before === undefined ? value : choose(before.value, value) })
  }
  for (const { labels, value } of chosen.values()) gauge.set(labels, value)
}
