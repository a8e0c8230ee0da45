import type { Unit } from '../../chains/chain.ts'
import type { Schemas } from '../../contract/operations.ts'

/** Gives the word of the contract for the smallest unit of a network. */
export function presentUnit(unit: Unit): Schemas['RelayerBalance']['unit'] {
  return UNITS[unit]
}

const UNITS: Record<Unit, Schemas['RelayerBalance']['unit']> = {
  wei: 'wei',
  stroops: 'stroop',
  lamports: 'lamport',
}
