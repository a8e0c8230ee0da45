import type { Pagination, Schemas } from '../contract/operations.ts'
import type { AppError } from '../errors.ts'

/** The body of a failure: the same five fields, whatever went wrong. */
export function failureBody(error: AppError): Schemas['Failure'] {
  return { success: false, data: null, message: error.publicMessage, error: error.detail, code: error.code }
}

/** What a handler of an enveloped operation returns. */
export interface SuccessResult {
  readonly data: unknown
  readonly pagination?: Pagination
  readonly logs?: readonly string[]
}

/** The body of a success. `metadata` is there only when there is something to tell. */
export function successBody({ data, pagination, logs = [] }: SuccessResult): object {
  return {
    success: true,
    data,
    ...(pagination && { pagination }),
    ...(logs.length > 0 && {
      metadata: { logs: logs.map((message) => ({ level: 'log', message })), traces: [] },
    }),
  }
}
