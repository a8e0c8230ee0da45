import { expect } from 'vitest'
import type { Transaction } from '../../support/service.ts'

/** A transaction that the chain includes. */
export interface OnChain {
  readonly nonce: bigint
  /** The amount that it pays, by which tests know it. */
  readonly amount: bigint
  readonly success: boolean
}

/** A chain for one account whose key is elsewhere. */
export interface OutageChain {
  /** The network and the relayer of the configuration file, without the names of the relayer and its signer. */
  readonly network: object
  readonly relayer: object
  /** A request that pays this amount. */
  request(amount: number): object
  makeBlock(): Promise<void>
  /** Everything that the account has on the chain, in the order of the chain. */
  included(): Promise<readonly OnChain[]>
  /** The nonce of its first transaction. */
  readonly firstNonce: bigint
  stop(): Promise<void>
}

/**
 * Checks that the chain holds a transaction of each amount from 1 to `count` once, and nothing else of the account; that their nonces have no
 * gap; and that the records say so.
 */
export async function expectExactlyOnce(
  chain: OutageChain,
  { records, count }: { readonly records: readonly Transaction[]; readonly count: number },
): Promise<void> {
  const included = await chain.included()
  const numbers = Array.from({ length: count }, (_, index) => BigInt(index))
  expect(included.map(({ amount }) => amount).sort((a, b) => Number(a - b))).toEqual(
    numbers.map((number) => number + 1n),
  )
  expect(included.map(({ nonce }) => nonce)).toEqual(numbers.map((number) => chain.firstNonce + number))
  expect(included.map(({ success }) => success)).toEqual(numbers.map(() => true))
  expect(records.map(({ status }) => status)).toEqual(numbers.map(() => 'confirmed'))
}
