import type { Pagination } from '../../contract/operations.ts'

/** The result of a handler, before the envelope. */
export interface SuccessResult {
  readonly data: unknown
  readonly pagination?: Pagination
  readonly logs?: readonly string[]
}

/** Puts the envelope around a result. `metadata` exists only when the handler has logs. */
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
