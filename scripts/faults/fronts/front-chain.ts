import type { FaultyNode, Habits } from '../../../test/support/faulty-node.ts'

/** The price of everything, in the smallest unit. */
export const AMOUNT = 10_000n

/** The most gas of a payment on EVM. */
export const MAX_GAS = 500_000

/**
 * Who pays. `honest`: a key with a listed token · `wallet`: a contract that is honest only where it is
 * simulated · `token`: one that nobody listed, whose code or issuer decides in the block.
 */
export type PayerKind = 'honest' | 'wallet' | 'token'

/** A signed payment, and what can happen to it outside of the service. */
export interface Order {
  /** What a seller asks the facilitator with. */
  readonly body: RequestBody
  /** What makes it this payment and no other, beside its network. */
  readonly identity: readonly string[]
  readonly payer: string
  readonly kind: PayerKind
  /** Someone else sends it. Absent where only the relayer can. */
  sendFirst?(): Promise<unknown>
  /** The payer takes his money away, or his authorization back. */
  takeBack(): Promise<unknown>
  /**
   * Returns the hash of the transaction in which the payee got the amount; undefined if the chain has none.
   */
  paidIn(): Promise<string | undefined>
}

/** The body of a request to settle. */
export interface RequestBody {
  readonly paymentPayload: { readonly accepted: object }
  readonly paymentRequirements: object
}

/** A transaction of the relayer's account, as the chain has it. */
export interface Relayed {
  readonly hash: string
  /** In the chain's smallest unit. */
  readonly fee: bigint
  /** Whose payment it is; absent for any other transaction. */
  readonly payer?: string | undefined
  /** A limit that it has in its bytes and should not have. */
  readonly problem?: string | undefined
}

/** What the configuration file of the service has about the chain. */
export interface ChainConfig {
  readonly relayers: readonly object[]
  readonly signers: readonly object[]
  readonly networks: readonly object[]
}

/** A chain on which payments are settled, with the relayer `main` on it. */
export interface FrontChain {
  /** By CAIP-2. */
  readonly network: string
  /** The token that the operator lists. */
  readonly asset: string
  /** Somebody who may be paid instead. */
  readonly otherPayee: string
  readonly node: FaultyNode
  readonly config: ChainConfig
  /** What its node can say that is not true, or not all. */
  readonly lies: Readonly<Record<string, Habits>>
  /** A transaction of somebody else who may use the relayer. */
  readonly ownRequest: object
  /** The kinds of payers that there are. */
  readonly kinds: readonly PayerKind[]
  /** The most that a payment that fails costs. */
  readonly maxFee: bigint
  /** Time between blocks, in ms. */
  readonly blockMs: number
  makeBlock(): Promise<unknown>
  /** Signs payments of one payer, who has money for so many of them. */
  order(kind: PayerKind, how: { readonly payments: number; readonly funds: number }): Promise<Order[]>
  /** Returns all transactions of the relayer's account. */
  relayed(): Promise<readonly Relayed[]>
  /** Returns what the payee has of the listed token. */
  received(): Promise<bigint>
  stop(): Promise<unknown>
}
