import { createHmac } from 'node:crypto'

interface Signed {
  /** The `uid` of the event: `webhook-id`. */
  readonly id: string
  /** The time of this try, in ms since the epoch. */
  readonly at: number
  /** The exact body. */
  readonly body: string
  /** Keys, newest first; empty for a notification that does not sign. */
  readonly keys: readonly string[]
}

/**
 * Creates the headers that authenticate a body. `X-Signature` is the base64 of HMAC-SHA256 over the body with the UTF-8 bytes of the key. The
 * headers of Standard Webhooks (github.com/standard-webhooks, "Signature scheme") also sign the id and the time, so that a third party cannot
 * replay an old request; their `webhook-signature` can contain several signatures.
 */
export function signatureHeaders({ id, at, body, keys }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const [newest, previous] = keys.map((key) => hmac(key, body))
  const standard = keys.map((key) => `v1,${hmac(key, `${id}.${timestamp}.${body}`)}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(standard.length > 0 && { 'webhook-signature': standard.join(' ') }),
    ...(newest !== undefined && { 'X-Signature': newest }),
    ...(previous !== undefined && { 'X-Signature-Previous': previous }),
  }
}

function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64')
}
