import type { Gauge, LabelValues } from 'prom-client'

interface Value<L extends string> {
  readonly labels: LabelValues<L>
  readonly value: number
}

/**
 * Replaces all series of a gauge. Several values may have the same labels, because those beyond a limit share the label `other`;
 * `choose` then selects the one that an alert needs.
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
