import { AppError, type ErrorCode } from '../../errors.ts'

/** Refusals that are about the relayer, and would be the same for every item. */
const OF_RELAYER: ReadonlySet<ErrorCode> = new Set([
  'relayer_disabled',
  'relayer_not_found',
  'relayer_paused',
])

/** A sentence that begins with the name of a field of the item. */
const BEGINS_WITH_FIELD = /^[a-z][a-z0-9_.[\]]*: /

/** Says in a refusal which item of a batch it is about. Everything else stays as it is. Pure. */
export function errorAtItem(index: number, error: unknown): unknown {
  if (!(error instanceof AppError) || OF_RELAYER.has(error.code)) return error
  const { code, detail, retryAfterSeconds, cause } = error
  const separator = BEGINS_WITH_FIELD.test(detail) ? '.' : ': '
  const options = retryAfterSeconds === undefined ? { cause } : { cause, retryAfterSeconds }
  return new AppError(code, `body.transactions[${index}]${separator}${detail}`, options)
}
