import { RelayerApiError } from './api-error.ts'
import { RelayerConnectionError } from './connection-error.ts'

/** Tells whether the same request can succeed later without a change. */
export function isTransient(error: unknown): boolean {
  if (error instanceof RelayerConnectionError) return true
  return error instanceof RelayerApiError && (error.status === 429 || error.status >= 500)
}
