import { larger } from '../../../lib/bigint.ts'
import type { Fees } from '../content.ts'
import type { EvmAttempt } from '../types.ts'
import { ceilingOf, describeFees, tipOf } from './fees.ts'

/** Nodes accept a replacement only when each price is at least this percentage of the old one (geth's `PriceBump` of 10 %). */
const BUMP_PERCENT = 110n

/** Returns the lowest price that a node accepts in place of `price`: 110 %, rounded up, and at least one wei more. */
export function bumped(price: bigint): bigint {
  const raised = (price * BUMP_PERCENT + 99n) / 100n
  return raised > price ? raised : price + 1n
}

/** The lowest prices of a replacement, in both fields. */
export interface Floor {
  readonly ceiling: bigint
  readonly tip: bigint
}

/** Returns the floor over every attempt that may be in a pool with the present nonce; undefined when there is none. */
export function replacementFloor(attempts: readonly EvmAttempt[]): Floor | undefined {
  const inPool = attempts
    .filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
    .map((attempt) => attempt.draft.fees)
  if (inPool.length === 0) return undefined
  const highest = (price: (fees: Fees) => bigint) => inPool.map(price).reduce(larger)
  return { ceiling: bumped(highest(ceilingOf)), tip: bumped(highest(tipOf)) }
}

/** Returns true when a node accepts these fees in place of the attempts that set the floor. */
export function reaches(fees: Fees, floor: Floor): boolean {
  return ceilingOf(fees) >= floor.ceiling && tipOf(fees) >= floor.tip
}

/** Returns the higher of the fees and the floor, field by field. */
export function raisedTo(fees: Fees, floor: Floor): Fees {
  if (fees.kind === 'legacy') {
    return { kind: 'legacy', gasPrice: larger(fees.gasPrice, larger(floor.ceiling, floor.tip)) }
  }
  const maxPriorityFeePerGas = larger(fees.maxPriorityFeePerGas, floor.tip)
  const maxFeePerGas = larger(larger(fees.maxFeePerGas, floor.ceiling), maxPriorityFeePerGas)
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
}

/** Describes a floor in the fields of the fee kind that the request uses. */
export function describeFloor(floor: Floor, kind: Fees['kind']): string {
  return describeFees(
    kind === 'legacy'
      ? { kind, gasPrice: larger(floor.ceiling, floor.tip) }
      : { kind, maxFeePerGas: floor.ceiling, maxPriorityFeePerGas: floor.tip },
  )
}
