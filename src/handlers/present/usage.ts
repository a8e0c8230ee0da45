import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Spent } from '../../spending/budget.ts'
import type { AssetUsage, LimitUsage, Usage } from '../../spending/usage.ts'

/** Shows what was spent. Amounts are decimal digits. */
export function presentUsage({ limits, assets }: Usage): Schemas['SpendingUsage'] {
  return { limits: limits.map(presentLimit), spent: assets.map(presentAsset) }
}

function presentLimit({ rule, per, network, asset, limit, spent }: LimitUsage): Schemas['LimitUsage'] {
  return omitUndefined({
    rule,
    per,
    network,
    asset,
    value: limited(limit.value, spent.value),
    fees: limited(limit.fees, spent.fees),
    count: limited(limit.count, spent.count),
  })
}

function limited(limit: bigint | number | undefined, spent: bigint | number) {
  if (limit === undefined) return undefined
  const left = BigInt(limit) - BigInt(spent)
  return { limit: String(limit), spent: String(spent), left: String(left < 0n ? 0n : left) }
}

function presentAsset({ network, asset, spent }: AssetUsage): Schemas['AssetUsage'] {
  return {
    network,
    asset,
    hour: presentSpent(spent.hour),
    day: presentSpent(spent.day),
    month: presentSpent(spent.month),
  }
}

function presentSpent({ value, fees, count }: Spent): Schemas['SpentAmounts'] {
  return { value: String(value), fees: String(fees), count }
}
