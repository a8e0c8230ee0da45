import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import type { AccessTokens } from '../remote/access-token.ts'
import { answered } from '../remote/answered.ts'
import { type JsonObject, readJsonObject } from '../remote/json-object.ts'
import { failureOf } from './failures.ts'

/** A request. */
interface KmsRequest {
  readonly method: 'GET' | 'POST'
  /** The part of the url after that of the client. */
  readonly suffix: string
  readonly body?: object
}

/** Asks Cloud KMS, logged in. */
export type KmsClient = (request: KmsRequest) => Promise<JsonObject>

interface KmsClientDeps {
  readonly http: HttpClient
  readonly tokens: AccessTokens
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
  /** The beginning of all urls. */
  readonly url: string
}

/** Creates a client of the REST interface. A token that Google does not accept is replaced once. */
export function createKmsClient({ http, tokens, timeoutMs, url }: KmsClientDeps): KmsClient {
  function send({ method, suffix, body }: KmsRequest, token: string): Promise<PostAnswer> {
    return answered(
      http.post({
        url: `${url}${suffix}`,
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        body: body ? JSON.stringify(body) : '',
        timeoutMs,
      }),
    )
  }

  return async (request) => {
    const token = await tokens.present()
    const first = await send(request, token)
    if (first.status !== 401) return resultOf(first)
    await tokens.drop(token)
    return resultOf(await send(request, await tokens.present()))
  }
}

function resultOf(answer: PostAnswer): JsonObject {
  if (answer.status !== 200) throw failureOf(answer)
  return readJsonObject(answer.body)
}
