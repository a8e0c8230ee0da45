import type { AbiParameter, Hex } from 'viem'
import { concatHex, encodeAbiParameters } from 'viem/utils'
import { CallProblem, type CallResult, callResult } from '../../call/problem.ts'
import type { NamedCall, RegisteredFunctions } from '../content.ts'
import { type AbiFunction, selectorOf, signatureOf } from './abi.ts'
import { findFunction } from './find-function.ts'
import { readTuple } from './read-argument.ts'

/** No node takes more data of a transaction, in bytes; `data` of a request has the same limit. */
const MAX_DATA_BYTES = 131_072

/** Each value takes a word of 32 bytes at least. More values are refused before they are read, because reading them takes time. */
const MAX_VALUES = MAX_DATA_BYTES / 32

/** Encodes a call by name as the data of a transaction. A refusal begins with the field, from `call` on. Pure. */
export function encodeCall(call: NamedCall, registered?: RegisteredFunctions): CallResult<Hex> {
  return callResult(() => encode(call, findFunction(call, registered)))
}

function encode({ args = [] }: NamedCall, called: AbiFunction): Hex {
  const { inputs } = called
  if (Array.isArray(args) && args.length !== inputs.length)
    throw new CallProblem(
      'call.args',
      `expected ${inputs.length} arguments of ${signatureOf(called)}, not ${args.length}`,
    )
  if (countValues(args) > MAX_VALUES)
    throw new CallProblem(
      'call.args',
      `expected at most ${MAX_VALUES} values, which are ${MAX_DATA_BYTES} bytes of data`,
    )
  const values = readTuple(inputs, args, 'call.args')
  const data = concatHex([selectorOf(called), encodeAbiParameters(inputs as readonly AbiParameter[], values)])
  const bytes = data.length / 2 - 1
  if (bytes <= MAX_DATA_BYTES) return data
  throw new CallProblem('call.args', `expected at most ${MAX_DATA_BYTES} bytes of data, not ${bytes}`)
}

/** Counts the values inside of lists and objects. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, item) => sum + countValues(item), 0)
}
