import type { Chain, SigningContext } from '../../../src/chains/chain.ts'
import type { Account, ChainRequest } from '../../../src/chains/request.ts'

/** A network of one's own, with an account that has money. */
export interface ChainUnderTest {
  /** On a node that is as far as can be. */
  readonly chain: Chain
  /** On a node that is one block behind. */
  readonly behind: Chain
  /** On a node that does what it is told while every reply to a broadcast is lost. */
  readonly deaf: Chain
  readonly account: Account
  signingContext(nonce: bigint): SigningContext
  /** Moves an amount to a third party. */
  move(amount: bigint, change?: { readonly validUntil: Date }): ChainRequest
  /** Reads the amount that the receiver has received so far. */
  received(): Promise<bigint>
  /** Makes the next block, with everything that a node has taken. */
  include(): Promise<void>
  stop(): Promise<void>
}
