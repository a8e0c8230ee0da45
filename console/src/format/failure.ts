import { RelayerError } from '../../../clients/typescript/src/errors/relayer-error.ts'
import { RelayerApiError } from '../../../clients/typescript/src/index.ts'

/** Says in a sentence why something failed. Errors of the client speak for themselves; others are faults of the console. */
export function describeFailure(error: unknown): string {
  if (error instanceof RelayerApiError && error.requestId !== undefined)
    return `${error.message} (request ${error.requestId})`
  if (error instanceof RelayerError) return error.message
  return `The console failed: ${error instanceof Error ? error.message : String(error)}`
}
