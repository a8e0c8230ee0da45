import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import { answered } from '../remote/answered.ts'
import { type JsonObject, readJsonObject } from '../remote/json-object.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { CdpAuthorizer } from './tokens.ts'

/** Asks the platform; a request with a body is a POST. Paths are below `/platform/v2/`. */
export type CdpClient = (path: string, body?: object) => Promise<JsonObject>

interface CdpClientDeps {
  readonly http: HttpClient
  readonly authorizer: CdpAuthorizer
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

const HOST = 'api.cdp.coinbase.com'

/** Creates a client of the HTTP interface. Coinbase's own library brings further versions of viem and of Solana's libraries with it. */
export function createCdpClient({ http, authorizer, timeoutMs }: CdpClientDeps): CdpClient {
  return async (suffix, content) => {
    const path = `/platform/v2/${suffix}`
    const method = content === undefined ? 'GET' : 'POST'
    const body = content === undefined ? undefined : JSON.stringify(content)
    const headers = {
      ...authorizer({ method, host: HOST, path, ...(body !== undefined && { body }) }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const url = `https://${HOST}${path}`
    const answer = await answered(http.post({ url, method, headers, body: body ?? '', timeoutMs }))
    if (answer.status !== 200) throw failureOf(answer)
    return readJsonObject(answer.body)
  }
}

/** The sentences complete "Coinbase account … ", by status. */
const REFUSED: Readonly<Record<number, string>> = {
  400: 'cannot sign in this way',
  401: 'cannot be asked: Coinbase does not accept the API key or the wallet secret, or the clock of this machine is wrong',
  402: 'cannot be asked: the project has a bill to pay',
  403: 'is denied: the API key needs the right to sign, and a policy of the project may forbid it',
  404: 'does not exist in this project',
  422: 'cannot sign in this way',
}

/** Coinbase's message can name other things of the project, so only the status goes on. */
function failureOf({ status }: PostAnswer): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)')
  const refusal = REFUSED[status]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (status ${status})`)
  return new RemoteFault('unavailable', `gave no usable answer (status ${status})`)
}
