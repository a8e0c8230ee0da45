import type { Pagination } from '../contract/operations.ts'

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
