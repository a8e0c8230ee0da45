import type { Db } from '../database/db.ts'
import type { Counter, Spent, SpentIn } from './budget.ts'
import { isUser, PERIODS, type Period, type Spender, type SpendingLimit } from './rules.ts'
import { listCounters, readSpent } from './spending-store.ts'

/** A limit of a rolling period on one network, and what was spent of it. */
export interface LimitUsage {
  /** Its path in the rules. */
  readonly rule: string
  readonly per: Period
  readonly network: string
  readonly asset: string
  readonly limit: SpendingLimit
  readonly spent: Spent
}

/** It says how much was spent of one asset on one network, by period. */
export interface AssetUsage extends Counter {
  readonly spent: Readonly<Record<Period, Spent>>
}

/** It says how much a spender has spent. */
export interface Usage {
  readonly limits: readonly LimitUsage[]
  readonly assets: readonly AssetUsage[]
}

/**
 * Reads what a spender has spent until now. A limit without a network is listed for each of the networks where the spender is known to send,
 * and for each where it has spent.
 */
export async function readUsage(
  db: Db,
  spender: Spender,
  { now, networks }: { readonly now: Date; readonly networks: readonly string[] },
): Promise<Usage> {
  const counters = await listCounters(db, [spender.subject], now)
  const known = [...new Set([...networks, ...counters.map(({ network }) => network)])]
  const wanted = limitsOnEach(spender, known)
  const all = [
    ...counters,
    ...wanted.map(({ network, asset }) => ({ subject: spender.subject, network, asset })),
  ]
  const asked = all.flatMap((counter) => PERIODS.map((period) => ({ counter, period })))
  const spentIn = await readSpent(db, asked, now)
  return {
    limits: wanted.map((one) => ({ ...one, spent: spentIn({ ...one, subject: spender.subject }, one.per) })),
    assets: counters.map((counter) => ({ ...counter, spent: byPeriod(counter, spentIn) })),
  }
}

/** Names the limits of rolling periods on each of these networks. Limits of a single transaction use up nothing. */
function limitsOnEach(spender: Spender, networks: readonly string[]) {
  const field = isUser(spender) ? 'user_limits' : 'limits'
  return (spender.rules.limits ?? []).flatMap((limit, index) => {
    const per = PERIODS.find((period) => period === limit.per)
    if (per === undefined) return []
    return (limit.network === undefined ? networks : [limit.network]).map((network) => ({
      rule: `${field}[${index}]`,
      per,
      network,
      asset: limit.asset,
      limit,
    }))
  })
}

function byPeriod(counter: Counter, spentIn: SpentIn): Readonly<Record<Period, Spent>> {
  return {
    hour: spentIn(counter, 'hour'),
    day: spentIn(counter, 'day'),
    month: spentIn(counter, 'month'),
  }
}

/** A spender, and the networks on which it is known to send. */
interface SpenderOnNetworks {
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
    const named = limitsOnEach(spender, [...known])
    return { subject: spender.subject, named }
  })
  const names = new Set(counters.map(keyOf))
  // The sum of an unspent asset is 0, and needs no query.
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
