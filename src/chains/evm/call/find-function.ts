import { CallProblem } from '../../call/problem.ts'
import { listOf, readObject } from '../../call/read-fields.ts'
import type { NamedCall } from '../content.ts'
import { type AbiFunction, canonicalType, isAtom, type Parameter, signatureOf } from './abi.ts'
import { parseSignature } from './parse-signature.ts'

/**
 * Finds the function of a call: by its signature, or by its name in the ABI.
 * @throws CallProblem
 */
export function findFunction({ function: wanted, abi }: NamedCall): AbiFunction {
  if (abi === undefined) {
    if (wanted.includes('(')) return parseSignature(wanted)
    throw new CallProblem(
      'call.function',
      'expected a signature such as transfer(address,uint256), or the function in call.abi',
    )
  }
  const functions = abi.flatMap((item, index) => readFunction(item, `call.abi[${index}]`))
  const signature = wanted.includes('(') ? signatureOf(parseSignature(wanted)) : undefined
  const fitting = functions.filter((one) =>
    signature === undefined ? one.name === wanted : signatureOf(one) === signature,
  )
  const [found, another] = fitting
  if (found === undefined)
    throw new CallProblem(
      'call.function',
      `expected a function of call.abi, which has ${listOf(functions.map(signatureOf))}`,
    )
  if (another !== undefined && signature === undefined)
    throw new CallProblem(
      'call.function',
      `several have this name; expected one of ${listOf(fitting.map(signatureOf))}`,
    )
  return found
}

/** Reads an item of an ABI. Events, errors and constructors are left out. */
function readFunction(item: unknown, path: string): AbiFunction[] {
  const { type = 'function', name, inputs = [] } = readObject(item, path)
  if (type !== 'function') return []
  if (typeof name !== 'string') throw new CallProblem(`${path}.name`, 'expected the name of the function')
  return [{ type, name, inputs: readParameters(inputs, `${path}.inputs`) }]
}

function readParameters(list: unknown, path: string): Parameter[] {
  if (!Array.isArray(list)) throw new CallProblem(path, 'expected a list of parameters')
  return list.map((item: unknown, index) => readParameter(item, `${path}[${index}]`))
}

function readParameter(item: unknown, path: string): Parameter {
  const { type, name, components } = readObject(item, path)
  if (typeof type !== 'string') throw new CallProblem(`${path}.type`, 'expected the name of a type')
  const canonical = canonicalType(type)
  const [, base = ''] = /^([a-z0-9]+)(\[[0-9]*\])*$/.exec(canonical) ?? []
  if (base !== 'tuple' && !isAtom(base))
    throw new CallProblem(`${path}.type`, 'expected a type of Solidity, such as uint256, address[] or tuple')
  return {
    type: canonical,
    name: typeof name === 'string' ? name : undefined,
    components: base === 'tuple' ? readParameters(components, `${path}.components`) : undefined,
  }
}
