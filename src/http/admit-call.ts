import type { Principal } from '../access/principal.ts'
import type { Contract } from '../contract/document.ts'
import type { Input, OperationId, RawInput } from '../contract/operations.ts'
import type { ContractValidator } from '../contract/validator.ts'
import { requireScope } from './require-access.ts'
import { requireValid } from './require-valid.ts'

interface CallAdmissionOptions {
  readonly contract: Contract
  readonly validator: ContractValidator
}

/** Creates the check of calls that a handler makes to another operation: they need its scope, and input that fits the contract. */
export function createCallAdmission({ contract, validator }: CallAdmissionOptions) {
  return <Id extends OperationId>(id: Id, principal: Principal, { path, body }: RawInput): Input<Id> => {
    const operation = contract.operations.find((other) => other.id === id)
    if (operation === undefined) throw new Error(`the contract has no operation ${id}`)
    requireScope(operation, principal)
    // The validator has proved that the input is that of the operation.
    return requireValid(validator.request(id, { path, querystring: '', body })) as Input<Id>
  }
}
