import { omitUndefined } from '../lib/omit-undefined.ts'
import { nameOf, type Spender } from '../spending/rules.ts'
import type { LimitUsage } from '../spending/usage.ts'
import type { Finding } from './alert.ts'

/** An alert begins at this part of a limit, in percent. */
const NEARLY_PERCENT = 90n

/** The alert is over below this part of the limit, in percent. */
const ENOUGH_PERCENT = 80n

/** A relayer or an API key with limits, and what it has spent of them. */
export interface SpenderUsage {
  readonly spender: Spender
  readonly limits: readonly LimitUsage[]
  readonly relayerId?: string | undefined
  readonly apiKeyId?: string | undefined
  readonly notifications: readonly string[]
}

const AMOUNTS = ['value', 'fees', 'count'] as const

/** Finds the limits of which most is used. A limit of 0 forbids something and is no budget. Pure. */
export function findUsedBudgets(usages: readonly SpenderUsage[]): Finding[] {
  return usages.flatMap((usage) =>
    usage.limits.flatMap((one) =>
      AMOUNTS.flatMap((amount) => {
        const limit = BigInt(one.limit[amount] ?? 0)
        return limit === 0n ? [] : [compare(usage, one, { amount, limit })]
      }),
    ),
  )
}

function compare(
  { spender, relayerId, apiKeyId, notifications }: SpenderUsage,
  { rule, per, network, asset, spent }: LimitUsage,
  { amount, limit }: { readonly amount: (typeof AMOUNTS)[number]; readonly limit: bigint },
): Finding {
  const used = BigInt(spent[amount])
  const isNearly = used * 100n >= limit * NEARLY_PERCENT
  const isEnough = used * 100n < limit * ENOUGH_PERCENT
  const sentence = `Rule ${rule}.${amount} of ${nameOf(spender)}: ${used} of ${limit} per ${per} is used on ${network} (${asset}).`
  return {
    kind: 'budget_nearly_used',
    subject: `${spender.subject} ${rule}.${amount} ${network}`,
    state: isNearly ? 'firing' : isEnough ? 'over' : 'unclear',
    notifications,
    detail: omitUndefined({
      message: isNearly
        ? `${sentence} Raise the limit if this is intended; what exceeds it is refused.`
        : sentence,
      network,
      relayer_id: relayerId,
      api_key_id: apiKeyId,
      value: String(used),
      threshold: String((limit * NEARLY_PERCENT + 99n) / 100n),
    }),
  }
}
