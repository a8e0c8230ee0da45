import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { signatureHeaders } from '../../src/notifications/delivery/try-delivery.ts'
import { isMaskedWebhookUrl, maskWebhookUrl } from '../../src/notifications/notification.ts'

const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const BODY = '{"test": 2432232314}'
const OLD = 'an-old-signing-key-of-thirty-two-characters'
const NEW = 'a-new-signing-key-of-thirty-two-characters'

/** What the published verifier says, given the UTF-8 bytes of our key as the secret. */
function verified(key: string, headers: Record<string, string>, body = BODY): boolean {
  try {
    new Webhook(Buffer.from(key).toString('base64')).verify(body, headers)
    return true
  } catch {
    return false
  }
}

describe('signatureHeaders', () => {
  test('is what the library of Standard Webhooks signs', () => {
    const at = new Date(1_614_265_330_000)
    const headers = signatureHeaders({ id: ID, at: at.getTime(), body: BODY, keys: [NEW] })
    const library = new Webhook(Buffer.from(NEW).toString('base64'))
    expect(headers['webhook-signature']).toBe(library.sign(ID, at, BODY))
    expect(headers['webhook-timestamp']).toBe('1614265330')
  })

  test('X-Signature is the base64 of the HMAC-SHA256 of the exact body', () => {
    const body = '{"a":"é 漢 🙂"}'
    const { 'X-Signature': signature } = signatureHeaders({ id: ID, at: 0, body, keys: [NEW] })
    expect(signature).toBe(createHmac('sha256', Buffer.from(NEW)).update(Buffer.from(body)).digest('base64'))
  })

  test('two keys: verifiers of either accept, and of a third do not', () => {
    const headers = signatureHeaders({ id: ID, at: Date.now(), body: BODY, keys: [NEW, OLD] })
    expect([NEW, OLD, `${NEW}!`].map((key) => verified(key, headers))).toEqual([true, true, false])
    expect(headers['X-Signature']).toBe(createHmac('sha256', NEW).update(BODY).digest('base64'))
    expect(headers['X-Signature-Previous']).toBe(createHmac('sha256', OLD).update(BODY).digest('base64'))
  })

  test('a changed body, id or time is refused', () => {
    const headers = signatureHeaders({ id: ID, at: Date.now(), body: BODY, keys: [NEW] })
    expect(verified(NEW, headers, `${BODY} `)).toBe(false)
    expect(verified(NEW, { ...headers, 'webhook-id': 'another' })).toBe(false)
    expect(
      verified(NEW, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) }),
    ).toBe(false)
  })

  test('without a key nothing is signed', () => {
    expect(signatureHeaders({ id: ID, at: 5_999, body: BODY, keys: [] })).toEqual({
      'webhook-id': ID,
      'webhook-timestamp': '5',
    })
  })
})

/** [url, shown when the operator chose it, shown when a caller did] */
const URLS = [
  ['https://a.example', 'https://a.example', 'https://a.example'],
  ['https://a.example/hook/token', 'https://a.example/***', 'https://a.example/hook/token'],
  ['https://a.example:8443/h?token=t&x=1', 'https://a.example:8443/***', 'https://a.example:8443/h?***'],
  ['https://user:pass@a.example/h', 'https://a.example/***', 'https://***@a.example/h'],
  ['https://token@a.example/?k=1#part', 'https://a.example/***', 'https://***@a.example/?***#***'],
  ['https://:pass@a.example/h#f', 'https://a.example/***', 'https://***@a.example/h#***'],
  ['no url', '***', '***'],
] as const

test.each(URLS)('%s', (url, ofOperator, ofCaller) => {
  expect(maskWebhookUrl({ url })).toBe(ofOperator)
  expect(maskWebhookUrl({ url, urlUntrusted: true })).toBe(ofCaller)
  for (const shown of [ofOperator, ofCaller]) expect(isMaskedWebhookUrl(shown)).toBe(shown !== url)
})

test.each(['https://a.example/***/hook', 'https://a.example/?a=***', 'https://a.example/a***'])(
  '%s is not masked',
  (url) => {
    expect(isMaskedWebhookUrl(url)).toBe(false)
  },
)
