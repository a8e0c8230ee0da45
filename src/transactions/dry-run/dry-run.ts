import type { Draft } from '../../chains/attempt.ts'
import type { Unit } from '../../chains/chain.ts'
import type { AppError } from '../../errors.ts'
import type { RuleResult } from '../../spending/evaluate-content.ts'

/**
 * Tells how far a dry run came. `succeeded`: a node prepared and simulated the request. `refused`: it refused the request. `unknown`: no node
 * answered. `skipped`: no node was asked, because a rule refuses the request or its idempotency key was used before.
 */
export type Simulation = 'succeeded' | 'refused' | 'unknown' | 'skipped'

/** It says what would happen to a request now. Amounts are in the smallest unit. */
export interface DryRun {
  /** The first reason for which the request would be refused; undefined when it would be accepted. */
  readonly refusal: AppError | undefined
  readonly simulation: Simulation
  readonly unit: Unit
  /** The price is absent when nothing could be prepared. */
  readonly price?: DryPrice | undefined
  /** The account can spend this much; absent when no node told it. */
  readonly balance?: bigint | undefined
  /** The other transactions in flight reserve this much; absent when it was not looked up. */
  readonly reserved?: bigint | undefined
  readonly results: readonly RuleResult[]
  /** Sentences about what the service would change or decide. */
  readonly logs: readonly string[]
}

/** The price of a request. */
export interface DryPrice {
  /** Absent while no node has answered, or when the content would be prepared later. */
  readonly draft?: Draft | undefined
  /** The request moves this much of the native currency. */
  readonly value: bigint
  /** The most that it can take from the account, which would be reserved. */
  readonly cost: bigint
}
