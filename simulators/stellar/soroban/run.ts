import type { xdr } from '@stellar/stellar-sdk'
import type { ContractEffects } from '../state/meta.ts'
import type { Transaction } from '../transaction/frame.ts'
import type { Programs } from './contracts.ts'
import { nonRefundableFee } from './fees.ts'

/** A contract transaction while it is applied: what it may use, and what it has used. */
export interface SorobanRun {
  readonly programs: Programs
  readonly data: xdr.SorobanTransactionData
  /** The declared fee for events and rent; stroops. */
  readonly refundable: bigint
  /** Set when it has succeeded. */
  used?: {
    readonly returned: xdr.ScVal | null
    readonly events: readonly xdr.ContractEvent[]
    readonly eventFee: bigint
    readonly rentFee: bigint
  }
}

/** Starts one; nothing for a transaction without contracts. */
export function createSorobanRun(transaction: Transaction, programs: Programs): SorobanRun | undefined {
  const { soroban } = transaction
  if (!soroban) return undefined
  return { programs, data: soroban, refundable: soroban.resourceFee - spentFee(transaction) }
}

/** Returns the effects of its fees; a failed call uses nothing but the part that is not refunded. */
export function contractEffects(transaction: Transaction, used: SorobanRun['used']): ContractEffects {
  return {
    returned: used?.returned ?? null,
    events: used?.events ?? [],
    nonRefundableFee: spentFee(transaction),
    refundableFee: used ? used.eventFee + used.rentFee : 0n,
    rentFee: used?.rentFee ?? 0n,
  }
}

function spentFee({ soroban, size }: Transaction): bigint {
  return soroban ? nonRefundableFee(soroban.resources, size) : 0n
}
