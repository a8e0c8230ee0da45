import { createHmac } from 'node:crypto'

interface Signed {
  /** Name of the event: `webhook-id`. */
  readonly id: string
  /** When this try is sent, in ms since 1970. */
  readonly at: number
  /** The exact body. */
  readonly body: string
  /** The newest key first; none for a notification that does not sign. */
  readonly keys: readonly string[]
}

/**
 * The headers that prove who sent a body: `X-Signature`, the base64 of HMAC-SHA256 over the body with the UTF-8 bytes of the
 * key, and those of Standard Webhooks (github.com/standard-webhooks, "Signature scheme"), which sign id and time, too, so
 * that an old request cannot be sent again by somebody else. Its `webhook-signature` has room for several keys.
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
