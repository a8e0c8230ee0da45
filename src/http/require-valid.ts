import { sentence } from '../contract/explain.ts'
import type { ValidationResult, ValidInput } from '../contract/validator.ts'
import { AppError, type ErrorCode } from '../errors.ts'

/** The code for a path parameter whose value cannot be an id. */
const NOT_FOUND: Readonly<Record<string, ErrorCode>> = {
  relayer_id: 'relayer_not_found',
  transaction_id: 'transaction_not_found',
  notification_id: 'notification_not_found',
  delivery_id: 'delivery_not_found',
  signer_id: 'signer_not_found',
  network_id: 'network_not_found',
}

/**
 * Gives the input of a valid request.
 *
 * @throws AppError with the first problem of an invalid one
 */
export function requireValid(result: ValidationResult): ValidInput {
  switch (result.kind) {
    case 'valid':
      return result.input
    case 'unknown_id':
      throw new AppError(NOT_FOUND[result.parameter] ?? 'not_found', 'Nothing has this id.')
    case 'invalid':
      throw new AppError('invalid_request', sentence(result.problem))
  }
}
