import { type Contract, loadContract } from './document.ts'
import { type ContractValidator, createValidator } from './validator.ts'

/** The contract with its validator. It has no state, so several servers of a process can share it. */
export interface CompiledContract {
  readonly contract: Contract
  readonly validator: ContractValidator
}

/** Reads openapi.yaml and creates its validator. */
export async function compileContract(): Promise<CompiledContract> {
  const contract = await loadContract()
  return { contract, validator: createValidator(contract) }
}
