import type { Draft } from './attempt.ts'
import type { ChainRequest } from './request.ts'

/** A prepared draft. `logs` tell in sentences what the service changed or decided, for `metadata.logs`. */
export interface Prepared<D extends Draft = Draft> {
  readonly draft: D
  readonly logs: readonly string[]
  /**
   * The caller named a price at which the next block could not include it: a sentence with both numbers. Nothing is signed until the market
   * comes down to it.
   */
  readonly awaitsPrice?: string
  /** The next `prepare` of the same request can use this estimate and skip its simulation. */
  readonly knownGas?: bigint
  /**
   * A sentence that tells that the chain includes externally signed content already, because a third party sent it. A new request is refused
   * with it; content that was accepted before is signed all the same, so that its inclusion is found.
   */
  readonly included?: string
}

/** Another transaction must be included first; `request` describes it. */
export interface SetupRequired<R extends ChainRequest = ChainRequest> {
  readonly kind: 'setup'
  readonly request: R
  /** The reason, as a sentence for a person. */
  readonly detail: string
}

/** The earlier attempts and the new content could both be included, so the service signs the new content after those have expired. */
export interface AfterExpiry {
  readonly kind: 'after_expiry'
  readonly detail: string
  /** The highest amount that the new content can take from the account; absent when nothing is to be signed, or no node told its price. */
  readonly cost?: bigint
}
