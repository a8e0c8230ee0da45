import { type HrTime, ValueType } from '@opentelemetry/api'
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics'
import type { MetricSeries } from '../metrics/series.ts'

/** The time from which the counters count, and the present. */
export interface Period {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

/**
 * Converts metrics of Prometheus to those of OpenTelemetry, with their names and labels. Values that are not finite are left out, and so are
 * metrics without values.
 */
export function toMetricData(series: readonly MetricSeries[], period: Period): MetricData[] {
  return series.map((one) => toMetric(one, period)).filter(({ dataPoints }) => dataPoints.length > 0)
}

function toMetric(one: MetricSeries, period: Period): MetricData {
  const common = {
    descriptor: {
      name: one.name,
      description: one.help,
      unit: unitOf(one.name),
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (one.kind === 'histogram')
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(one, period) }
  const dataPoints = one.values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ ...period, attributes: { ...labels }, value }))
  return one.kind === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's'
  return /_bytes(_total)?$/.test(name) ? 'By' : ''
}

interface Parts {
  readonly labels: Readonly<Record<string, string | number>>
  /** The upper bounds and the cumulative counts, in ascending order. */
  readonly buckets: { readonly bound: number; readonly count: number }[]
  sum: number
  count: number
}

function histogramPoints({ name, values }: MetricSeries, period: Period) {
  const groups = new Map<string, Parts>()
  for (const { name: part, labels, value } of values) {
    const { le, ...others } = labels
    const key = JSON.stringify(others)
    const parts = groups.get(key) ?? { labels: others, buckets: [], sum: 0, count: 0 }
    groups.set(key, parts)
    if (part === `${name}_sum`) parts.sum = value
    else if (part === `${name}_count`) parts.count = value
    else parts.buckets.push({ bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: value })
  }
  return [...groups.values()].map((parts) => ({
    ...period,
    attributes: { ...parts.labels },
    value: toHistogram(parts),
  }))
}

/** The buckets of Prometheus count everything below their bound; those of OpenTelemetry count what the one before does not. */
function toHistogram({ buckets, sum, count }: Parts): Histogram {
  const finite = buckets
    .filter(({ bound }) => Number.isFinite(bound))
    .sort((one, other) => one.bound - other.bound)
  const cumulative = [...finite.map((bucket) => bucket.count), count]
  return {
    buckets: {
      boundaries: finite.map(({ bound }) => bound),
      counts: cumulative.map((total, index) => total - (cumulative[index - 1] ?? 0)),
    },
    sum,
    count,
  }
}
