import { AppError } from '../errors.ts'

/** Makes the failure for a method that a path does not have. */
export function methodNotAllowed(allowedMethods: readonly string[]): AppError {
  const detail = `This path answers ${allowedMethods.join(', ')}.`
  return new AppError('method_not_allowed', detail, { allowedMethods })
}
