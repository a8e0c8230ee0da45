import bodyParser from 'koa-bodyparser'
import { JsonError, type JsonProblem, parseJson } from '../contract/integers.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import type { Limits } from './limits.ts'
import type { HttpContext } from './state.ts'

/** Reads the JSON body of a request, which has to be declared as one of the media types. Throws AppError 400 with a code of its own for each way in which that fails. */
export type BodyReader = (context: HttpContext, mediaTypes: readonly string[]) => Promise<unknown>

const JSON_PROBLEMS: Record<JsonProblem, { code: ErrorCode; detail: string }> = {
  syntax: { code: 'invalid_json', detail: 'The body is not valid JSON.' },
  surrogate: {
    code: 'invalid_json',
    detail: 'The body has a string with half a surrogate pair, which is not text.',
  },
  depth: { code: 'json_too_deep', detail: 'The JSON in the body is nested too deeply.' },
}

/** Bytes that are no UTF-8 must not silently turn into U+FFFD: somebody may be about to sign them. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Without an encoding koa-bodyparser hands over the bytes as they are; its type declarations do not know that. */
const AS_BYTES = { encoding: false }

/**
 * koa-bodyparser collects the bytes and guards their number; what they mean is decided here, because its own JSON.parse
 * would round integers.
 */
export function createBodyReader({
  bodyBytes,
  jsonDepth,
}: Pick<Limits, 'bodyBytes' | 'jsonDepth'>): BodyReader {
  const collect = bodyParser({
    ...AS_BYTES,
    enableTypes: ['text'],
    // Which of them the operation takes is checked before.
    extendTypes: { text: ['application/json', '+json'] },
    textLimit: `${bodyBytes}b`,
  })
  return async (context, mediaTypes) => {
    assertReadable(context, mediaTypes, bodyBytes)
    await collect(context as Parameters<typeof collect>[0], async () => {}).catch((error: unknown) => {
      throw bodyFailure(error, bodyBytes)
    })
    return parseBody(context.request.body, jsonDepth)
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

/** JSON is UTF-8 (RFC 8259), so the only charset that may be named is this one. */
function isOneOf(mediaTypes: readonly string[], contentType: string): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  return (
    mediaTypes.includes(type) && parameters.every((part) => part === '' || /^charset="?utf-?8"?$/.test(part))
  )
}

function parseBody(bytes: unknown, maxDepth: number): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    throw new AppError('invalid_json', 'The body is empty; send JSON.')
  try {
    return parseJson(utf8.decode(bytes), { maxDepth })
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
