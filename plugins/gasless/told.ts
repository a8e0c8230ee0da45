import type { Hex } from 'viem'

/** A receipt as nodes answer it; the fields that are read here. */
export interface Receipt {
  readonly status: Hex
  readonly blockNumber: Hex
  readonly gasUsed: Hex
  readonly transactionHash: Hex
  readonly logs: readonly unknown[]
}

/** The effect of the block on a request. */
export type Outcome =
  /** The calls of these users failed, each with the reason; none if all were made. */
  | {
      readonly kind: 'told'
      readonly receipt: Receipt
      readonly failures: ReadonlyMap<Hex, string>
      /** True if all calls were made, and the fee that one of them pays did not arrive. */
      readonly isShort?: boolean
    }
  /**
   * Nothing proves it now. It counts as a failure where the user himself has made it so that nothing ever
   * will.
   */
  | { readonly kind: 'unknown'; readonly message: string; readonly isByUser?: boolean }

/** Makes the outcome of what nothing proves now. */
export function unknown(message: string): Outcome {
  return { kind: 'unknown', message }
}
