import type { RpcCall } from '../../rpc/rpc.ts'

/**
 * The most balances of one call. A node refuses to return more than 24,576 bytes from init code (EIP-170),
 * which are 768 words; a call with this many uses about 8 million gas, and nodes allow 30 million and more.
 */
export const MANY_BALANCES = 750

/**
 * Init code that returns the balances of the addresses behind it, 32 bytes each, in their order. `eth_call`
 * without a receiver runs it like the deployment of a contract, which changes nothing, so no contract is
 * needed on the chain:
 *
 * ```text
 * 00 PUSH1 27 PUSH1 00                 where the first address begins, and where the first balance goes
 * 04 JUMPDEST DUP2 CODESIZE EQ PUSH1 23 JUMPI
 * 0b PUSH1 14 DUP3 DUP3 PUSH1 0c ADD CODECOPY
 * 13 DUP1 MLOAD BALANCE DUP2 MSTORE
 * 18 PUSH1 20 ADD SWAP1 PUSH1 14 ADD SWAP1 PUSH1 04 JUMP
 * 23 JUMPDEST PUSH1 00 RETURN
 * ```
 */
const PROGRAM = '602760005b81381460235760148282600c0139805131815260200190601401906004565b6000f3'

/** Returns the call for the balances of at most `MANY_BALANCES` addresses. */
export function manyBalancesCall(addresses: readonly string[]): RpcCall {
  const data = `0x${PROGRAM}${addresses.map((address) => address.slice(2)).join('')}`
  return { method: 'eth_call', params: [{ data }, 'latest'] }
}

/** The hex digits of a word. */
const WORD = 64

/** Reads the result of the call; undefined for anything but this many balances. */
export function readManyBalances(result: unknown, count: number): bigint[] | undefined {
  if (typeof result !== 'string' || !/^0x[0-9a-f]*$/i.test(result)) return undefined
  if (result.length !== 2 + count * WORD) return undefined
  return Array.from({ length: count }, (_, index) =>
    BigInt(`0x${result.slice(2 + index * WORD, 2 + (index + 1) * WORD)}`),
  )
}
