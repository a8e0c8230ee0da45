import type { DecodedCall, NamedCall, ReadAbi, RegisteredFunctions } from '../evm/content.ts'
import type { CallResult } from './problem.ts'

/** Calls of contracts can be written and read by the names of functions, and contracts can have a registered ABI. */
export interface ContractCalls {
  /** Encodes a call by the name of its function, as `0x` hex. A refusal begins with the field, from `call` on. */
  encode(call: NamedCall, registered?: RegisteredFunctions): CallResult<string>
  /** Reads the ABI that a caller registers for a contract. A refusal begins with the place, from `abi` on. */
  readAbi(abi: readonly unknown[]): CallResult<ReadAbi>
  /** Returns the key under which `ReadAbi.functions` has the called function; undefined for data that calls none. */
  keyOf(data: string): string | undefined
  /** Decodes data, with the function of the registered ABI where there is one. Any data and any function give an answer. */
  decode(data: string, registered?: unknown): DecodedCall | undefined
}
