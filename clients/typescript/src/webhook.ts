import { RelayerError } from './errors/relayer-error.ts'
import { parseContractJson } from './exact-json.ts'
import type { Schemas } from './operation-types.ts'

/** The body of a webhook. `event` says which of these it is. */
export type WebhookEvent =
  | Schemas['TransactionUpdateWebhook']
  | Schemas['TransactionIncidentWebhook']
  | Schemas['RelayerStateUpdateWebhook']
  | Schemas['NotificationTestWebhook']

/** The headers of a request, as `Request` or as Node.js has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** A request that claims to come from the service. */
export interface WebhookRequest {
  /** The exact bytes or text of the body, before anything has parsed it. */
  readonly body: string | Uint8Array
  readonly headers: WebhookHeaders
  /** The signing key of the notification. While you rotate it, the old one and the new one. */
  readonly signingKey: string | readonly string[]
  /** How far `webhook-timestamp` may be from the clock of this machine, in seconds. Default 300. */
  readonly toleranceSeconds?: number
  /**
   * The headers that must prove the request. `standard` (default): those of Standard Webhooks, which also sign the id and the time.
   * `legacy`: `X-Signature`, in case a proxy removes the others; anyone who has seen a request can then replay it.
   */
  readonly scheme?: 'standard' | 'legacy'
  /** The time, in ms since the epoch. Default: now. */
  readonly now?: number
}

/** The request was not proven to come from the service. Answer it with 401, and do nothing else. */
export class WebhookVerificationError extends RelayerError {
  override readonly name = 'WebhookVerificationError'
  readonly reason: 'missing_header' | 'timestamp_out_of_tolerance' | 'wrong_signature'

  constructor(reason: WebhookVerificationError['reason'], detail: string) {
    super(detail)
    this.reason = reason
  }
}

/**
 * Verifies a webhook, and returns its body. An event can come more than once: `id` is the same each time.
 *
 * @throws WebhookVerificationError if its signature, its time or a header is not as it should be
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body
  const { signed, signatures } =
    request.scheme === 'legacy' ? legacyForm(request, body) : standardForm(request, body)
  const keys = [request.signingKey].flat()
  if (keys.length === 0 || keys.includes(''))
    throw new TypeError('signingKey: expected at least one, and none that is empty')
  for (const key of keys) if (await fits(key, { signed, signatures })) return parse(body)
  throw new WebhookVerificationError('wrong_signature', 'no signing key made a signature of this webhook')
}

interface SignedForm {
  /** What was signed. */
  readonly signed: Uint8Array<ArrayBuffer>
  /** One for each key in use, in base64. */
  readonly signatures: readonly string[]
}

/** Standard Webhooks sign the id, the time and the body, with dots between them. */
function standardForm(request: WebhookRequest, body: Uint8Array): SignedForm {
  const { toleranceSeconds = 300, now = Date.now() } = request
  const id = requireHeader(request, 'webhook-id')
  const timestamp = requireHeader(request, 'webhook-timestamp')
  const age = Math.abs(now / 1000 - Number(timestamp))
  // A text that is no number has no age.
  if (!(age <= toleranceSeconds))
    throw new WebhookVerificationError(
      'timestamp_out_of_tolerance',
      `webhook-timestamp: expected a time within ${toleranceSeconds} s of now`,
    )
  const signatures = requireHeader(request, 'webhook-signature')
    .split(' ')
    .flatMap((signature) => (signature.startsWith('v1,') ? [signature.slice(3)] : []))
  return { signed: join(new TextEncoder().encode(`${id}.${timestamp}.`), body), signatures }
}

function legacyForm(request: WebhookRequest, body: Uint8Array): SignedForm {
  const previous = headerOf(request.headers, 'x-signature-previous')
  const signatures = [requireHeader(request, 'x-signature'), ...(previous === undefined ? [] : [previous])]
  return { signed: join(body), signatures }
}

/** WebCrypto compares signatures in constant time. */
async function fits(key: string, { signed, signatures }: SignedForm): Promise<boolean> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(key)
  const imported = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify'])
  for (const signature of signatures) {
    const decoded = fromBase64(signature)
    if (decoded !== undefined && (await crypto.subtle.verify('HMAC', imported, decoded, signed))) return true
  }
  return false
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}

function parse(body: Uint8Array): WebhookEvent {
  return parseContractJson(new TextDecoder().decode(body)) as WebhookEvent
}

function requireHeader({ headers }: WebhookRequest, name: string): string {
  const value = headerOf(headers, name)
  if (value === undefined || value === '')
    throw new WebhookVerificationError('missing_header', `${name}: expected this header`)
  return value
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return [value].flat()[0]
}

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
