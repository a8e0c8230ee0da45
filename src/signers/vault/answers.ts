import type { PostAnswer } from '../../lib/http/http-client.ts'
import { RemoteFault } from '../remote/remote-key.ts'

interface VaultBody {
  readonly data?: Readonly<Record<string, unknown>>
  readonly auth?: { readonly client_token?: unknown; readonly lease_duration?: unknown }
}

/** @throws RemoteFault for a status other than 200, or 204, by which Vault says that there is nothing to tell */
export function dataOf(answer: PostAnswer): Readonly<Record<string, unknown>> {
  if (answer.status === 204) return {}
  if (answer.status !== 200) throw failureOf(answer, 'is denied: look at the policy of the AppRole')
  return readJson(answer).data ?? {}
}

/** Translates a status. `denied` completes "<the key> …" for a request that Vault refuses. */
export function failureOf({ status }: PostAnswer, denied: string): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many requests (status 429)')
  if (status === 404) return new RemoteFault('refused', 'does not exist in this mount (status 404)')
  if (status === 400 || status === 403) return new RemoteFault('refused', `${denied} (status ${status})`)
  const sealed = status === 503 ? ', sealed or in maintenance' : ''
  return new RemoteFault('unavailable', `cannot be asked: Vault answered with status ${status}${sealed}`)
}

/** @throws RemoteFault for a body that is not a JSON object; the parser's own message could quote a secret */
export function readJson({ body }: PostAnswer): VaultBody {
  const parsed = parse(body)
  if (typeof parsed !== 'object' || parsed === null)
    throw new RemoteFault('unavailable', 'gave an answer that cannot be read')
  return parsed
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
