import type { Answer } from '../../answer.ts'
import { CallProblem, callResult } from '../../call/problem.ts'
import { listOf, readFields } from '../../call/read-fields.ts'
import { contractAddress } from '../check/fields.ts'
import type { StellarRequest } from '../content.ts'
import type { InvokeContractOperation } from '../model/operation.ts'
import type { ScValue } from '../model/sc-value.ts'
import type { ContractSpec } from './contract-spec.ts'
import type { SpecReader } from './read-contract-spec.ts'
import { readValue } from './read-value.ts'

/** The place of the only operation that such a request may have. */
const AT = 'operations[0]'

/**
 * Puts the arguments in the place of named ones, by the specification of the contract. A call that is not the only operation of its request
 * stays as it is, because the check refuses it.
 */
export async function encodeNamedArgs(
  readSpec: SpecReader,
  request: StellarRequest,
): Promise<Answer<StellarRequest>> {
  const [operation, another] = request.operations ?? []
  if (operation?.type !== 'invoke_contract' || operation.named_args === undefined || another !== undefined)
    return { kind: 'ok', value: request }
  const problem = contractAddress(operation.contract_address, `${AT}.contract_address`)
  if (problem !== undefined) return { kind: 'refused', refusal: { code: 'invalid_request', detail: problem } }
  const spec = await readSpec(operation.contract_address)
  if (spec.kind === 'refused') {
    const { code, detail } = spec.refusal
    return { kind: 'refused', refusal: { code, detail: `${AT}.${detail}` } }
  }
  if (spec.kind !== 'ok') return spec
  return callResult(() => ({ ...request, operations: [withArgs(operation, spec.value)] }))
}

function withArgs(
  { named_args, ...operation }: InvokeContractOperation,
  spec: ContractSpec,
): InvokeContractOperation {
  return { ...operation, args: readArguments(spec, operation.function_name, named_args) }
}

/**
 * Reads the arguments of a function by their names, in the order of the function. Those of an option may be left out.
 * @throws CallProblem with the place of the first value that does not fit
 */
function readArguments({ functions, types }: ContractSpec, name: string, given: unknown): ScValue[] {
  const parameters = functions.get(name)
  if (parameters === undefined)
    throw new CallProblem(
      `${AT}.function_name`,
      `expected a function of the contract, which has ${listOf([...functions.keys()])}`,
    )
  const optional = new Set(
    parameters.flatMap(({ name, type }) => (type.type === 'scSpecTypeOption' ? [name] : [])),
  )
  const path = `${AT}.named_args`
  const names = parameters.map((parameter) => parameter.name)
  const values = readFields(given, path, { names, mayLack: (one) => optional.has(one) })
  return parameters.map((parameter, index) =>
    readValue(parameter.type, values[index], { path: `${path}.${parameter.name}`, depth: 1, types }),
  )
}
