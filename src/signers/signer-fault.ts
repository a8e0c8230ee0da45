import { AppError } from '../errors.ts'

/** Makes the failure of a key whose service does not answer: the caller can try again, and nothing has happened. */
export function signerUnavailable(detail: string, cause?: unknown): AppError {
  return new AppError('signer_unavailable', detail, { cause })
}

/** Makes the failure of a key whose service refuses to sign: an operator has to act. */
export function signerRefused(detail: string, cause?: unknown): AppError {
  return new AppError('signer_refused', detail, { cause })
}

/** Returns true for the failure of a key that is outside this process. */
export function isSignerFault(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'signer_unavailable' || error.code === 'signer_refused')
}
