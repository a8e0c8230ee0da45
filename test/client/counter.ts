/**
 * A contract that keeps a number: `set(uint256)` when there are 36 bytes of call data, `get()` otherwise. Written by hand:
 * `calldatasize 36 eq [set] jumpi, sload(0) return; set: sstore(0, calldataload(4)) stop`.
 */
export const COUNTER = {
  abi: ['function get() view returns (uint256)', 'function set(uint256 value)'],
  bytecode: '0x60168060095f395ff336602414600f575f545f5260205ff35b6004355f5500',
} as const
