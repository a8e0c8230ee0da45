import type { Generated } from 'kysely'

/** Each row holds the last decision about a relayer that another one fills. A relayer has no row before the first decision. */
export interface TopUpsTable {
  relayer_id: string
  /** `enough`, `pending`, `limit_reached`, `waiting` or `refused`. */
  state: string
  /** The code of a refusal; null otherwise. */
  code: string | null
  /** The payment that is not final yet, or the last one that did not succeed; null otherwise. */
  transaction_id: string | null
  /** The number of refusals in a row. */
  failures: Generated<number>
  /** The service does not try again before this time; null where it need not wait. */
  retry_at: Date | null
  changed_at: Generated<Date>
}
