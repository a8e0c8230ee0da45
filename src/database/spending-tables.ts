import type { Generated } from 'kysely'

/** API keys and relayers with limits. Whoever asks a limit locks the row of its spender until the commit. */
export interface SpendersTable {
  /** `key:<id>` or `relayer:<id>`. */
  subject: string
}

/** Each row says how much one version of a transaction takes from the budget of one spender, in one asset. */
export interface SpendingsTable {
  transaction_id: string
  subject: string
  /** By type and name. */
  network: string
  asset: string
  /** Counts from 1. */
  version: Generated<number>
  /** True when what is signed next is another version. */
  closed: Generated<boolean>
  /** The time at which it counts: that of the request, or of the latest one that raised it. */
  at: Date
  /** The most that the transaction can take, whichever of its attempts is included. */
  most_value: bigint
  most_fees: bigint
  /** This amount counts now: the most while the transaction is open, and the amount that it took once the chain has decided. */
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
