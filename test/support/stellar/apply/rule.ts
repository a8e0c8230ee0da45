import type { xdr } from '@stellar/stellar-sdk'
import type { Transaction } from '../frame.ts'
import type { Network } from '../network.ts'
import type { SorobanRun } from '../soroban/run.ts'
import type { Changes } from '../state.ts'
import type { Market } from './market.ts'

/** How much signatures must weigh for an operation. */
export type ThresholdLevel = 'low' | 'medium' | 'high'

/** An operation of one type. */
export type BodyOf<Type extends xdr.OperationBodyVariantName> = Extract<xdr.OperationBody, { type: Type }>

/** What an operation is applied with. */
export interface OperationContext {
  readonly network: Network
  readonly ledger: number
  /** Of the ledger it becomes part of, in seconds since 1970. */
  readonly closeTime: bigint
  readonly transaction: Transaction
  /** Which operation of the transaction it is; the first is 0. */
  readonly index: number
  /** The account that acts. */
  readonly source: string
  /** Everything the operation changes; thrown away when it fails. */
  readonly changes: Changes
  readonly market: Market
  /** What a transaction that runs contracts may use. */
  readonly soroban: SorobanRun | undefined
}

/** What the protocol says of one type of operation. */
export interface Rule<Type extends xdr.OperationBodyVariantName> {
  level(body: BodyOf<Type>): ThresholdLevel
  /** What is wrong with it whatever the ledger holds (`doCheckValid`); undefined when nothing is. */
  check(body: BodyOf<Type>, source: string, network: Network): xdr.OperationResult | undefined
  /** Does it (`doApply`). */
  apply(body: BodyOf<Type>, context: OperationContext): xdr.OperationResult
}
