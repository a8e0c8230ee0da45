import type { Principal } from '../../access/principal.ts'
import type { Input, OperationId, RawInput } from '../../contract/operations.ts'

/**
 * Admits a call inside the process to an operation as if it came in a request of its own: it checks the scope, then the input by the contract.
 *
 * @throws AppError `insufficient_scope` or `invalid_request`
 */
export type AdmitCall = <Id extends OperationId>(
  operation: Id,
  principal: Principal,
  call: RawInput,
) => Input<Id>
