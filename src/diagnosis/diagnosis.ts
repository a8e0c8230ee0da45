/**
 * The reason for the position of a transaction. A type test keeps the codes equal to the contract's, which
 * explains each.
 */
export type FindingCode =
  | 'final'
  | 'chain_reset'
  | 'canceling'
  | 'replacement_waiting'
  | 'relayer_paused'
  | 'relayer_disabled'
  | 'waiting_for_funds'
  | 'in_flight_limit'
  | 'behind_others'
  | 'missing_predecessor'
  | 'fee_below_base_fee'
  | 'fee_below_market'
  | 'fee_at_cap'
  | 'fee_at_limit'
  | 'fee_over_budget'
  | 'nonce_passed'
  | 'queued_in_pool'
  | 'no_private_endpoint'
  | 'kept_private'
  | 'made_public'
  | 'not_taken'
  | 'undecided'
  | 'stuck'
  | 'nodes_silent'
  | 'chain_halted'
  | 'signer_unavailable'
  | 'nodes_disagree'
  | 'awaits_approval'
  | 'awaits_transaction'
  | 'scheduled'
  | 'awaits_price'
  | 'waiting_to_be_signed'
  | 'waiting_for_inclusion'
  | 'waiting_for_confirmations'

/**
 * The next action of the service on a transaction. `none`: the transaction is final, or it needs something
 * from outside.
 */
export type NextAction =
  | 'sign'
  | 'broadcast'
  | 'raise_fee'
  | 'expire'
  | 'watch'
  | 'confirm'
  | 'fill_gap'
  | 'none'

/** One reason for the present state of a transaction. */
export interface Finding {
  readonly code: FindingCode
  readonly message: string
}

/** The reasons for the state of a transaction, and the next action of the service. */
export interface Diagnosis {
  /** The most important first; never empty. */
  readonly findings: readonly [Finding, ...Finding[]]
  readonly nextAction: {
    readonly action: NextAction
    /** Absent if the action happens as soon as possible, or never. */
    readonly at?: Date | undefined
    readonly message: string
  }
}
