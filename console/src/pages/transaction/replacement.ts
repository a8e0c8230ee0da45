import type { Body, Transaction } from '../../../../clients/typescript/src/index.ts'

/** A transaction on EVM. */
export type EvmTransaction = Extract<Transaction, { network_type: 'evm' }>
type Replacement = Body<'replaceTransaction'>

/** Returns the request for the same content at the highest speed. */
export function speedUpOf({ to, value, data, gas_limit: gas }: EvmTransaction): Replacement {
  return {
    value,
    speed: 'fastest',
    ...(to !== undefined && { to }),
    ...(data !== undefined && data !== '0x' && { data }),
    ...(gas !== undefined && { gas_limit: gas }),
  }
}

/** Returns a request that does what the service does for a cancellation, so that its price can be asked: 0 to the account itself. */
export function cancellationOf({ from, speed }: EvmTransaction): Replacement {
  return { to: from, value: '0', speed: speed?.level ?? 'fast' }
}

/** Returns the price of gas that the shown attempt pays at most, in wei. */
export function priceOf({ max_fee_per_gas, gas_price }: EvmTransaction): string | undefined {
  return max_fee_per_gas ?? gas_price
}
