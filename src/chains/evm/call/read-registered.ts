import { type CallResult, callResult } from '../../call/problem.ts'
import type { ReadAbi } from '../content.ts'
import { selectorOf } from './abi.ts'
import { readDocument, readFunctions } from './read-abi.ts'

/** Reads an ABI that a caller registers for a contract. A refusal begins with the place, from `abi` on. Pure. */
export function readAbi(abi: readonly unknown[]): CallResult<ReadAbi> {
  return callResult(() => read(abi))
}

function read(abi: readonly unknown[]): ReadAbi {
  const functions = readFunctions(abi, 'abi').map((one) => [selectorOf(one), one] as const)
  return { document: readDocument(abi, 'abi'), functions: Object.fromEntries(functions) }
}
