import type { Db } from '../database/schema.ts'
import type { Counter } from './budget.ts'
import type { Spender } from './rules.ts'
import { listCounters, readSpent } from './spending-store.ts'
import { type LimitUsage, limitOnEach } from './usage.ts'

/** A spender, and the networks on which it is known to send. */
export interface SpenderOnNetworks {
  readonly spender: Spender
  readonly networks: readonly string[]
}

/** Reads how much of their limits spenders have used until now, by their subjects, with two queries for any number of them. */
export async function readLimitUsages(
  db: Db,
  spenders: readonly SpenderOnNetworks[],
  now: Date,
): Promise<ReadonlyMap<string, readonly LimitUsage[]>> {
  const subjects = spenders.map(({ spender }) => spender.subject)
  const counters = subjects.length === 0 ? [] : await listCounters(db, subjects, now)
  const counted = Map.groupBy(counters, ({ subject }) => subject)
  const limits = spenders.map(({ spender, networks }) => {
    const known = new Set([
      ...networks,
      ...(counted.get(spender.subject) ?? []).map(({ network }) => network),
    ])
    const named = (spender.rules.limits ?? []).flatMap((limit, index) =>
      limitOnEach(limit, index, [...known]),
    )
    return { subject: spender.subject, named }
  })
  const names = new Set(counters.map(keyOf))
  // The sum of an asset that nobody has spent is 0, and needs no query.
  const asked = limits.flatMap(({ subject, named }) =>
    named.flatMap(({ network, asset, per }) => {
      const counter = { subject, network, asset }
      return names.has(keyOf(counter)) ? [{ counter, period: per }] : []
    }),
  )
  const spentIn = await readSpent(db, asked, now)
  return new Map(
    limits.map(({ subject, named }) => [
      subject,
      named.map((one) => ({ ...one, spent: spentIn({ ...one, subject }, one.per) })),
    ]),
  )
}

function keyOf({ subject, network, asset }: Counter): string {
  return JSON.stringify([subject, network, asset])
}
