import bodyParser from 'koa-bodyparser'
import { JsonError, type JsonProblem, type ParseOptions, parseJson } from '../contract/exact-integers.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import { DEFAULT_LIMITS, type Limits } from './server-options.ts'
import type { HttpContext } from './state.ts'

/**
 * Reads the JSON body of a request. The request must declare one of the media types.
 *
 * @throws AppError with a code for each kind of unreadable body
 */
export type BodyReader = (context: HttpContext, mediaTypes: readonly string[]) => Promise<unknown>

const JSON_PROBLEMS: Record<JsonProblem, { code: ErrorCode; detail: string }> = {
  syntax: { code: 'invalid_json', detail: 'The body is not valid JSON.' },
  surrogate: {
    code: 'invalid_json',
    detail: 'The body has a string with half a surrogate pair, which is not text.',
  },
  depth: { code: 'json_too_deep', detail: 'The JSON in the body is nested too deeply.' },
  values: {
    code: 'json_too_many_values',
    detail: `The JSON in the body has more than ${DEFAULT_LIMITS.jsonValues} values; each list and object also counts as one.`,
  },
}

/**
 * Fails on bytes that are not UTF-8. A replacement character would change a message that the caller wants to
 * sign.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/**
 * Makes koa-bodyparser return bytes: it passes the option on to raw-body. Its type declarations do not
 * contain the option.
 */
const AS_BYTES = { encoding: false }

/**
 * Creates the reader of bodies. koa-bodyparser collects the bytes and limits their number. The reader parses
 * them itself, because the JSON.parse of koa-bodyparser would round integers. It runs as a stage of the
 * pipeline and not as a middleware, so that the service reads no body of an unauthenticated caller.
 */
export function createBodyReader({
  bodyBytes,
  jsonDepth,
  jsonValues,
}: Pick<Limits, 'bodyBytes' | 'jsonDepth' | 'jsonValues'>): BodyReader {
  const collect = bodyParser({
    ...AS_BYTES,
    enableTypes: ['text'],
    // assertReadable has already checked that the operation takes the media type.
    extendTypes: { text: ['application/json', '+json'] },
    textLimit: `${bodyBytes}b`,
  })
  return async (context, mediaTypes) => {
    assertReadable(context, mediaTypes, bodyBytes)
    await collect(context as Parameters<typeof collect>[0], async () => {}).catch((error: unknown) => {
      throw bodyFailure(error, bodyBytes)
    })
    return parseBody(context.request.body, { maxDepth: jsonDepth, maxValues: jsonValues })
  }
}

function assertReadable(context: HttpContext, mediaTypes: readonly string[], bodyBytes: number): void {
  const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = context.headers
  if (!isOneOf(mediaTypes, context.get('Content-Type'))) {
    throw new AppError(
      'unsupported_content_type',
      `Send the header Content-Type: ${mediaTypes.join(' or ')} and UTF-8.`,
    )
  }
  if (encoding !== 'identity') throw new AppError('unsupported_content_type', 'Send the body uncompressed.')
  if (Number(length) > bodyBytes) throw tooLarge(bodyBytes)
}

/** Accepts UTF-8 as the only charset, because RFC 8259 requires it for JSON. */
function isOneOf(mediaTypes: readonly string[], contentType: string): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  return (
    mediaTypes.includes(type) && parameters.every((part) => part === '' || /^charset="?utf-?8"?$/.test(part))
  )
}

function parseBody(bytes: unknown, limits: ParseOptions): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    throw new AppError('invalid_json', 'The body is empty; send JSON.')
  try {
    return parseJson(utf8.decode(bytes), limits)
  } catch (error) {
    if (!(error instanceof JsonError))
      throw new AppError('invalid_json', 'The body is not valid UTF-8.', { cause: error })
    const { code, detail } = JSON_PROBLEMS[error.problem]
    throw new AppError(code, detail, { cause: error })
  }
}

function bodyFailure(error: unknown, bodyBytes: number): AppError {
  const { type } = error as { type?: string }
  if (type === 'entity.too.large') return tooLarge(bodyBytes)
  return new AppError('invalid_request', 'The body did not arrive completely.', { cause: error })
}

function tooLarge(bodyBytes: number): AppError {
  return new AppError('body_too_large', `The body has more than ${bodyBytes} bytes.`)
}
