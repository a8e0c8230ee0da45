import type { Principal } from '../../access/principal.ts'
import type { Input, OperationId } from '../../contract/operations.ts'

/** The input of an operation before validation. Parsed JSON as in the body of a request. */
export interface RawCall {
  readonly path: Readonly<Record<string, string>>
  readonly body: unknown
}

/**
 * Admits a call inside the process to an operation as if it came in a request of its own: it checks the scope, then the input by the contract.
 *
 * @throws AppError `insufficient_scope` or `invalid_request`
 */
export type AdmitCall = <Id extends OperationId>(
  operation: Id,
  principal: Principal,
  call: RawCall,
) => Input<Id>
