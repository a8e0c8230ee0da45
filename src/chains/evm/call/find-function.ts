import { CallProblem } from '../../call/problem.ts'
import { listOf } from '../../call/read-fields.ts'
import type { NamedCall, RegisteredFunctions } from '../content.ts'
import { type AbiFunction, type Parameter, signatureOf } from './abi.ts'
import { parseSignature } from './parse-signature.ts'
import { readFunctions } from './read-abi.ts'

/**
 * Finds the function of a call: by its signature, or by its name in the ABI of the call or in the one that is registered for the contract.
 * @throws CallProblem
 */
export function findFunction(
  { function: wanted, abi }: NamedCall,
  registered?: RegisteredFunctions,
): AbiFunction {
  const signature = wanted.includes('(') ? parseSignature(wanted) : undefined
  if (abi !== undefined) return findIn({ wanted, signature }, readFunctions(abi, 'call.abi'), 'call.abi')
  if (signature !== undefined) return withNames(signature, registered)
  if (registered === undefined)
    throw new CallProblem(
      'call.function',
      'expected a signature such as transfer(address,uint256), or the function in call.abi',
    )
  if (registered.functions === undefined)
    throw new CallProblem(
      'call.function',
      `no ABI is registered for ${registered.contract}; expected a signature such as transfer(address,uint256), or the function in call.abi, or register the ABI with PUT ${registered.path}`,
    )
  const functions = readFunctions(registered.functions, 'call.abi')
  return findIn({ wanted, signature }, functions, `the ABI that is registered for ${registered.contract}`)
}

/** The names of the registered function fill in for those that the signature leaves out. A function that is not registered is called all the same. */
function withNames(signature: AbiFunction, registered: RegisteredFunctions | undefined): AbiFunction {
  if (registered?.functions === undefined || hasNames(signature.inputs)) return signature
  const text = signatureOf(signature)
  return readFunctions(registered.functions, 'call.abi').find((one) => signatureOf(one) === text) ?? signature
}

function hasNames(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ name, components = [] }) => name !== undefined || hasNames(components))
}

interface Wanted {
  readonly wanted: string
  readonly signature: AbiFunction | undefined
}

function findIn(
  { wanted, signature }: Wanted,
  functions: readonly AbiFunction[],
  source: string,
): AbiFunction {
  const text = signature && signatureOf(signature)
  const fitting = functions.filter((one) =>
    text === undefined ? one.name === wanted : signatureOf(one) === text,
  )
  const [found, another] = fitting
  if (found === undefined)
    throw new CallProblem(
      'call.function',
      `expected a function of ${source}, which has ${listOf(functions.map(signatureOf))}`,
    )
  if (another !== undefined && text === undefined)
    throw new CallProblem(
      'call.function',
      `several have this name; expected one of ${listOf(fitting.map(signatureOf))}`,
    )
  return found
}
