import type { Schemas } from '../../../../clients/typescript/src/index.ts'

type Transaction = Schemas['Transaction']
type LogLine = NonNullable<Schemas['Plugin']['state']['logs']>[number]

/** The amount that an account got of one asset. */
export interface Payee {
  readonly to: string
  readonly asset: string
  /** The name of the asset, if the operator has one. */
  readonly symbol: string | undefined
  readonly decimals: number
  readonly amount: bigint
  readonly payments: number
  /** One of the payments: it tells the network. */
  readonly example: Transaction
}

/** These never moved anything, or not what they say. */
const WITHOUT_EFFECT: readonly Transaction['status'][] = ['failed', 'canceled', 'expired']

/** Adds up who got what in these transactions, the most payments first. Those that failed count nothing. */
export function payeesIn(transactions: readonly Transaction[]): readonly Payee[] {
  const payees = new Map<string, Payee>()
  for (const transaction of transactions) {
    if (WITHOUT_EFFECT.includes(transaction.status)) continue
    for (const { to, asset, amount, symbol, decimals } of transaction.transfers ?? []) {
      if (to === undefined) continue
      const key = JSON.stringify([transaction.relayer_id, to, asset])
      const known = payees.get(key)
      payees.set(key, {
        to,
        asset,
        symbol,
        decimals: decimals ?? 0,
        amount: (known?.amount ?? 0n) + BigInt(amount),
        payments: (known?.payments ?? 0) + 1,
        example: transaction,
      })
    }
  }
  return [...payees.values()].sort((one, other) => other.payments - one.payments)
}

/** The refusals of one reason. */
export interface RefusalGroup {
  readonly reason: string
  readonly count: number
  /** The newest sentence, and its time. */
  readonly sentence: string
  readonly at: string
}

/** Finds the refusals in the log of a plugin: lines such as `refused limit_exceeded (3 times): …`. */
export function refusalsIn(lines: readonly LogLine[]): readonly RefusalGroup[] {
  const groups = new Map<string, RefusalGroup>()
  for (const { at, message } of lines) {
    const [, reason, times = '1', sentence = ''] =
      /^refused (\S+?)(?: \((\d+) times\))?: (.*)$/s.exec(message) ?? []
    if (reason === undefined) continue
    groups.set(reason, { reason, count: (groups.get(reason)?.count ?? 0) + Number(times), sentence, at })
  }
  return [...groups.values()].sort((one, other) => other.count - one.count)
}
