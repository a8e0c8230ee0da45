import type { xdr } from '@stellar/stellar-sdk'
import type { Network } from '../network.ts'
import type { SorobanRun } from '../soroban/run.ts'
import type { Changes } from '../state/state.ts'
import type { Transaction } from '../transaction/frame.ts'
import type { Market } from './market.ts'

/** The weight of signatures that an operation needs. */
export type ThresholdLevel = 'low' | 'medium' | 'high'

/** An operation of one type. */
export type BodyOf<Type extends xdr.OperationBodyVariantName> = Extract<xdr.OperationBody, { type: Type }>

/** The context in which an operation is applied. */
export interface OperationContext {
  readonly network: Network
  readonly ledger: number
  /** The close time of its ledger, in seconds since 1970. */
  readonly closeTime: bigint
  readonly transaction: Transaction
  /** The index of the operation in the transaction; the first is 0. */
  readonly index: number
  /** The account that acts. */
  readonly source: string
  /** Everything the operation changes; thrown away when it fails. */
  readonly changes: Changes
  readonly market: Market
  /** The resources of a transaction that runs contracts. */
  readonly soroban: SorobanRun | undefined
}

/** The rules of the protocol for one type of operation. */
export interface Rule<Type extends xdr.OperationBodyVariantName> {
  level(body: BodyOf<Type>): ThresholdLevel
  /** Returns the problem that does not depend on the ledger (`doCheckValid`); undefined if there is none. */
  check(body: BodyOf<Type>, source: string, network: Network): xdr.OperationResult | undefined
  /** Does it (`doApply`). */
  apply(body: BodyOf<Type>, context: OperationContext): xdr.OperationResult
}
