import { expect, test } from 'vitest'
import { isMaskedWebhookUrl, maskWebhookUrl } from '../../src/notifications/notification.ts'

/** [url, shown when the operator chose it, shown when a caller did] */
const URLS = [
  ['https://a.example', 'https://a.example/***', 'https://a.example'],
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
