import type { Hex } from 'viem'

/** The code of an account that delegates begins with this (EIP-7702). */
const DELEGATION = '0xef0100'

/** Returns the contract to which this code delegates, in lower case; undefined for any other code. */
export function delegateIn(code: Hex): Hex | undefined {
  return code.toLowerCase().startsWith(DELEGATION)
    ? `0x${code.slice(DELEGATION.length).toLowerCase()}`
    : undefined
}
