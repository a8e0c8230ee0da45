import type { PostAnswer } from '../../lib/http/http-client.ts'
import { type JsonObject, objectIn, readJsonObject } from '../remote/json-object.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** @throws RemoteFault for a status other than 200, or 204, by which Vault says that there is nothing to tell */
export function dataOf(answer: PostAnswer): JsonObject {
  if (answer.status === 204) return {}
  if (answer.status !== 200) throw failureOf(answer, 'is denied: look at the policy of the AppRole')
  return objectIn(readJsonObject(answer.body), 'data')
}

/** Translates a status. `denied` completes "<the key> …" for a request that Vault refuses. */
export function failureOf({ status }: PostAnswer, denied: string): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many requests (status 429)')
  if (status === 404) return new RemoteFault('refused', 'does not exist in this mount (status 404)')
  if (status === 400 || status === 403) return new RemoteFault('refused', `${denied} (status ${status})`)
  const sealed = status === 503 ? ', sealed or in maintenance' : ''
  return new RemoteFault('unavailable', `cannot be asked: Vault answered with status ${status}${sealed}`)
}
