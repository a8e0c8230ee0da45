import type { AbiReading, ReadAbi } from '../content.ts'
import { selectorOf } from './abi.ts'
import { CallProblem } from './problem.ts'
import { readDocument, readFunctions } from './read-abi.ts'

/** Reads an ABI that a caller registers for a contract. A refusal begins with the place, from `abi` on. Pure. */
export function readAbi(abi: readonly unknown[]): AbiReading {
  try {
    return { kind: 'ok', value: read(abi) }
  } catch (error) {
    if (!(error instanceof CallProblem)) throw error
    return { kind: 'refused', refusal: { code: 'invalid_request', detail: error.message } }
  }
}

function read(abi: readonly unknown[]): ReadAbi {
  const functions = readFunctions(abi, 'abi').map((one) => [selectorOf(one), one] as const)
  return { document: readDocument(abi, 'abi'), functions: Object.fromEntries(functions) }
}
