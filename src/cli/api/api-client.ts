import { type ApiAccess, readApiAccess } from '../../config/api-access.ts'
import { parseJson, stringifyJson } from '../../contract/exact-integers.ts'

/** The service did not do what a command asked for. The message is its own sentence. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** The code of the contract; undefined without an answer of the service. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** A success of the service. */
export interface ApiAnswer<Data> {
  readonly data: Data
  /** The sentences of `metadata.logs`. */
  readonly logs: readonly string[]
}

interface ApiRequest {
  /** JSON text, which is sent as it is. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A service, asked over HTTP. */
export interface ApiClient {
  /** @throws ApiFailure with the sentence of the service, or when it does not answer */
  call<Data>(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer<Data>>
  /** Opens a stream of server-sent events. @throws ApiFailure as `call` */
  stream(path: string): Promise<ReadableStream<Uint8Array>>
}

/** The longest time for an answer, in ms. It is longer than the service takes for any. */
const TIMEOUT_MS = 60_000

/** Creates the client of the service that the environment or the configuration names. */
export function createApiClient(access: ApiAccess = readApiAccess()): ApiClient {
  return {
    call: async (method, path, request = {}) => {
      const response = await ask(access, path, {
        ...request,
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return readAnswer(access, response)
    },
    stream: async (path) => {
      const response = await ask(access, path, { method: 'GET' })
      if (response.ok && response.body !== null) return response.body
      throw await failureOf(access, response)
    },
  }
}

async function ask(
  { url, apiKey }: ApiAccess,
  path: string,
  { headers, body, ...request }: ApiRequest & Pick<RequestInit, 'method' | 'signal'>,
): Promise<Response> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    return await fetch(`${url}/api/v1${path}`, {
      ...request,
      ...(body !== undefined && { body }),
      headers: { authorization: `Bearer ${apiKey}`, ...type, ...headers },
    })
  } catch {
    throw new ApiFailure(`The service at ${url} does not answer. Is it running, and is RELAYER_URL right?`)
  }
}

interface Envelope<Data> {
  readonly data: Data
  readonly error?: string
  readonly code?: string
  readonly metadata?: { readonly logs: readonly { readonly message: string }[] }
}

async function readAnswer<Data>(access: ApiAccess, response: Response): Promise<ApiAnswer<Data>> {
  if (!response.ok) throw await failureOf(access, response)
  const { data, metadata } = await readEnvelope<Data>(access, response)
  return { data, logs: metadata?.logs.map(({ message }) => message) ?? [] }
}

async function failureOf(access: ApiAccess, response: Response): Promise<ApiFailure> {
  const { error, code } = await readEnvelope<null>(access, response)
  return new ApiFailure(
    `${error ?? 'The service refused.'} (${response.status}${code ? ` ${code}` : ''})`,
    code,
  )
}

async function readEnvelope<Data>({ url }: ApiAccess, response: Response): Promise<Envelope<Data>> {
  try {
    // The service checks its answers against the contract, which has this shape.
    return parseJson(await response.text()) as Envelope<Data>
  } catch {
    throw new ApiFailure(`${url} answered ${response.status} without JSON; it is not a relayer service.`)
  }
}

/** Writes a part of an answer as JSON with exact integers, indented or in one line. */
export function toJson(data: unknown, { indented = true } = {}): string {
  return stringifyJson(data, indented ? 2 : undefined)
}
