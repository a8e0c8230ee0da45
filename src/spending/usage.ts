import type { Db } from '../database/db.ts'
import type { Counter, Spent, SpentIn } from './budget.ts'
import { limitsField } from './limits.ts'
import { PERIODS, type Period, type Spender, type SpendingLimit } from './rules.ts'
import { listCounters, readSpent } from './spending-store.ts'

/** A limit of a rolling period on one network, and what was spent of it. */
export interface LimitUsage extends Omit<LimitOnNetwork, 'subject'> {
  readonly spent: Spent
}

interface LimitOnNetwork extends Counter {
  /** Its path in the rules. */
  readonly rule: string
  readonly per: Period
  readonly limit: SpendingLimit
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

/** A spender, and the networks on which it is known to send. */
interface SpenderOnNetworks {
  readonly spender: Spender
  readonly networks: readonly string[]
}

/**
 * Reads what a spender has spent until now. A limit without a network is listed for each of the networks
 * where the spender is known to send, and for each where it has spent.
 */
export async function readUsage(db: Db, { spender, networks }: SpenderOnNetworks, now: Date): Promise<Usage> {
  const counters = await listCounters(db, [spender.subject], now)
  const limits = limitsOnEach(spender, [...networks, ...counters.map(({ network }) => network)])
  // It includes the sums of every limit: that of an unspent asset is 0, and needs no query.
  const asked = counters.flatMap((counter) => PERIODS.map((period) => ({ counter, period })))
  const spentIn = await readSpent(db, asked, now)
  return {
    limits: limits.map((one) => ({ ...one, spent: spentIn(one, one.per) })),
    assets: counters.map((counter) => ({ ...counter, spent: byPeriod(counter, spentIn) })),
  }
}

/**
 * Reads how much of their limits spenders have used until now, by their subjects, with two queries for any
 * number of them.
 */
export async function readLimitUsages(
  db: Db,
  spenders: readonly SpenderOnNetworks[],
  now: Date,
): Promise<ReadonlyMap<string, readonly LimitUsage[]>> {
  const subjects = spenders.map(({ spender }) => spender.subject)
  const counters = subjects.length === 0 ? [] : await listCounters(db, subjects, now)
  const counted = Map.groupBy(counters, ({ subject }) => subject)
  const limits = spenders.map(({ spender, networks }) => {
    const known = (counted.get(spender.subject) ?? []).map(({ network }) => network)
    return [spender.subject, limitsOnEach(spender, [...networks, ...known])] as const
  })
  const names = new Set(counters.map(keyOf))
  const asked = limits
    .flatMap(([, ofSpender]) => ofSpender)
    .filter((one) => names.has(keyOf(one)))
    .map((counter) => ({ counter, period: counter.per }))
  const spentIn = await readSpent(db, asked, now)
  return new Map(
    limits.map(([subject, ofSpender]) => [
      subject,
      ofSpender.map((one) => ({ ...one, spent: spentIn(one, one.per) })),
    ]),
  )
}

/**
 * Names the limits of rolling periods on each of these networks. Limits of a single transaction use up
 * nothing.
 */
function limitsOnEach({ subject, rules }: Spender, networks: readonly string[]): LimitOnNetwork[] {
  const known = [...new Set(networks)]
  return (rules.limits ?? []).flatMap((limit, index) => {
    const { per, asset } = limit
    if (per === 'transaction') return []
    const rule = `${limitsField({ subject })}[${index}]`
    const on = limit.network === undefined ? known : [limit.network]
    return on.map((network) => ({ subject, network, asset, rule, per, limit }))
  })
}

function byPeriod(counter: Counter, spentIn: SpentIn): Readonly<Record<Period, Spent>> {
  return {
    hour: spentIn(counter, 'hour'),
    day: spentIn(counter, 'day'),
    month: spentIn(counter, 'month'),
  }
}

function keyOf({ subject, network, asset }: Counter): string {
  return JSON.stringify([subject, network, asset])
}
