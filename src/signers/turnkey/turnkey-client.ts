import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import { answered } from '../remote/answered.ts'
import { type JsonObject, readJsonObject } from '../remote/json-object.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { Stamper } from './stamp.ts'

/** Asks Turnkey with a stamp. Paths are below `/public/v1/`. */
export type TurnkeyClient = (path: string, body: object) => Promise<JsonObject>

interface TurnkeyClientDeps {
  readonly http: HttpClient
  readonly stamper: Stamper
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

const URL_BASE = 'https://api.turnkey.com/public/v1/'

/**
 * Creates a client of the HTTP interface. Turnkey's own client has no way to stop a request, and goes past the limits of this service's
 * connections.
 */
export function createTurnkeyClient({ http, stamper, timeoutMs }: TurnkeyClientDeps): TurnkeyClient {
  return async (path, content) => {
    const body = JSON.stringify(content)
    const headers = { 'content-type': 'application/json', 'x-stamp': stamper(body) }
    const answer = await answered(http.post({ url: `${URL_BASE}${path}`, headers, body, timeoutMs }))
    if (answer.status !== 200) throw failureOf(answer)
    return readJsonObject(answer.body)
  }
}

/** The sentences complete "Turnkey key … ", by status. */
const REFUSED: Readonly<Record<number, string>> = {
  400: 'cannot sign in this way, or does not exist in this organization',
  401: 'cannot be asked: Turnkey does not accept the API key, or the clock of this machine is wrong',
  403: 'is denied: a policy of the organization must let the user of the API key sign with it',
  404: 'does not exist in this organization',
}

/** Turnkey's message can name users, so only the status goes on. */
function failureOf({ status }: PostAnswer): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)')
  const refusal = REFUSED[status]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (status ${status})`)
  return new RemoteFault('unavailable', `gave no usable answer (status ${status})`)
}
