import type { Generated } from 'kysely'

/** API keys and relayers with limits. Whoever asks a limit locks the row of its spender until the commit. */
export interface SpendersTable {
  /** `key:<id>` or `relayer:<id>`. */
  subject: string
}

/** What a transaction takes from the budgets of its spenders. */
export interface SpendingsTable {
  transaction_id: string
  subject: string
  /** By type and name. */
  network: string
  asset: string
  /** The time at which it counts: that of the request, or of the latest one that raised it. */
  at: Date
  /** The most that the transaction can take, whichever of its attempts is included. */
  most_value: bigint
  most_fees: bigint
  /** What counts now: the most while it is open, and what it took once the chain has decided. */
  value: bigint
  fees: bigint
  count: number
  /** True when the chain has decided, and for what was only signed. */
  settled: Generated<boolean>
}

/** The sums of what counts, by steps of time. */
export interface SpentTable {
  subject: string
  network: string
  asset: string
  period: string
  /** The start of the step. */
  step: Date
  value: bigint
  fees: bigint
  count: number
}
