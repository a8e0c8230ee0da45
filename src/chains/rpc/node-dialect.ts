import type { AnswerLimits } from './answer-limits.ts'
import type { NodeErrorRules } from './node-errors.ts'
import type { RpcCall } from './rpc.ts'

/** The question that asks a node for its height. */
export interface HeightQuestion {
  readonly call: RpcCall
  /** Returns undefined for a result that is no height. */
  readonly read: (result: unknown) => bigint | undefined
  /**
   * The question goes out in an HTTP request of its own before the others. A node that answers the calls of a batch in parallel could
   * tell a height that is newer than its other answers, and its "none" would not hold for that height.
   */
  readonly alone?: true
}

/** The peculiarities of the JSON-RPC of one kind of chain. */
export interface NodeDialect {
  readonly height: HeightQuestion
  readonly errors: NodeErrorRules
  /** The most that one HTTP request holds, in bytes; a call that is longer goes alone. */
  readonly maxRequestBytes: number
  /** The methods of the service's own questions whose answers may be larger than 1 MiB. */
  readonly largeAnswers?: Readonly<Record<string, AnswerLimits>>
}
