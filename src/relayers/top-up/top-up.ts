/**
 * The rule by which another relayer fills the account. The names are those of the contract, because the rule is stored, shown and compared as
 * it is. Amounts are in the smallest unit of the network.
 */
export interface TopUp {
  /** The id of the treasury: the relayer that pays. */
  readonly from: string
  /** The spendable balance below which it pays. */
  readonly below: bigint
  /** The spendable balance that it restores. */
  readonly to: bigint
  /** The most that it pays within 24 hours. */
  readonly max_per_day: bigint
}
