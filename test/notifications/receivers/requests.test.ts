import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALERT_KINDS, type AlertNotice } from '../../../src/alerts/alert.ts'
import { readAnnouncement } from '../../../src/notifications/receivers/announcement.ts'
import { REQUESTS } from '../../../src/notifications/receivers/requests.ts'
import { type AlertServices, startAlertServices } from '../../support/alert-services.ts'

const NOTICE: AlertNotice = {
  alert: 'balance_low',
  alert_id: '5c1f0f9ab3d24e1c8e7a60d2b94f3a17',
  state: 'firing',
  since: '2026-11-20T10:00:00.000Z',
  message: 'Relayer main can spend 0.5 ETH; its warn_balance is 1 ETH.',
  network: 'evm:anvil',
  relayer_id: 'main',
}

/** The body that a webhook gets about an alert. */
const bodyOf = (notice: Partial<AlertNotice> = {}) =>
  JSON.stringify({
    id: '2f8f7a1e-6a43-4d8c-9a0f-3b1c5d7e9f20',
    event: 'alert',
    timestamp: '2026-11-20T10:00:00.012Z',
    payload: { payload_type: 'alert', ...NOTICE, ...notice },
  })

const END = { state: 'resolved', resolved_at: '2026-11-20T10:10:00.000Z' } as const

let services: AlertServices
beforeAll(async () => {
  services = await startAlertServices()
})
afterAll(() => services.stop())

/** Sends an announcement to the service, as it would be sent. */
async function announce(type: keyof typeof REQUESTS, body: string, publicUrl?: string) {
  const announcement = readAnnouncement(body, publicUrl)
  if (announcement === undefined) throw new Error('nothing to announce')
  const url = type === 'slack' ? services.slackUrl : services.url
  const request = REQUESTS[type](announcement, { url, key: '0123456789abcdef0123456789abcdef' })
  const response = await fetch(request.url, {
    method: 'POST',
    headers: { ...request.headers, ...request.secretHeaders },
    body: request.body,
  })
  return { status: response.status, text: await response.text(), sent: services.received.at(-1) }
}

describe.each(['slack', 'pagerduty', 'opsgenie'] as const)('%s', (type) => {
  test.each(ALERT_KINDS)('takes the beginning and the end of %s', async (alert) => {
    const begun = await announce(type, bodyOf({ alert }), 'https://relayer.example')
    expect([begun.status, begun.text]).toEqual([begun.sent?.answered, expect.not.stringContaining('invalid')])
    expect(begun.status).toBeLessThan(300)
    expect((await announce(type, bodyOf({ alert, ...END }))).status).toBeLessThan(300)
  })

  test('takes the longest names, messages and characters of two halves', async () => {
    const long = '𝒶'.repeat(20_000)
    const { status } = await announce(
      type,
      bodyOf({ relayer_id: 'r'.repeat(128), message: long }),
      'https://relayer.example',
    )
    expect(status).toBeLessThan(300)
  })

  test('takes a test', async () => {
    const body = JSON.stringify({
      id: '9d2f7c51-6c1a-4b7e-b0a5-5a1d3e2f4b6c',
      event: 'notification_test',
      timestamp: '2026-11-20T10:00:00.012Z',
      payload: { payload_type: 'test', notification_id: 'ops' },
    })
    const { status, sent } = await announce(type, body)
    expect(status).toBeLessThan(300)
    expect(JSON.stringify(sent?.body)).toContain('Test of notification ops')
  })
})

test('PagerDuty opens and resolves one incident, with a link', async () => {
  const begun = await announce('pagerduty', bodyOf(), 'https://relayer.example')
  expect(begun.sent?.body).toMatchObject({
    event_action: 'trigger',
    dedup_key: `alert-${NOTICE.alert_id}`,
    client_url: 'https://relayer.example/console#/relayers/main',
    payload: { severity: 'warning', source: 'main', summary: expect.stringContaining('0.5 ETH') },
  })
  const ended = await announce('pagerduty', bodyOf(END))
  expect(ended.sent?.body).toMatchObject({ event_action: 'resolve', dedup_key: begun.sent?.body.dedup_key })
})

test('Opsgenie creates and closes one alert, and the key is in no body', async () => {
  const begun = await announce('opsgenie', bodyOf({ alert: 'chain_halted' }))
  expect(begun.sent).toMatchObject({
    path: '/v2/alerts',
    body: { alias: `alert-${NOTICE.alert_id}`, priority: 'P1' },
  })
  const ended = await announce('opsgenie', bodyOf({ alert: 'chain_halted', ...END }))
  expect(ended.sent?.path).toBe(`/v2/alerts/alert-${NOTICE.alert_id}/close?identifierType=alias`)
  expect(ended.sent?.headers.authorization).toBe('GenieKey 0123456789abcdef0123456789abcdef')
})

test('a name in Slack mentions no one and hides no link', async () => {
  const { sent } = await announce(
    'slack',
    bodyOf({ message: '<!channel> <https://evil.example|here> & more' }),
  )
  const { text, blocks } = (sent?.body ?? {}) as {
    text: string
    blocks: { text: { type: string; text: string } }[]
  }
  expect(text).not.toMatch(/<!|<http/)
  expect(blocks[1]?.text.text).toBe('&lt;!channel&gt; &lt;https://evil.example|here&gt; &amp; more')
})

test('the link leads to the page about the subject, and its parts are encoded', () => {
  const linkOf = (notice: Partial<AlertNotice>) =>
    readAnnouncement(bodyOf(notice), 'https://relayer.example/r')?.link
  expect(linkOf({ transaction_id: 't/1' })).toBe('https://relayer.example/r/console#/transactions/main/t%2F1')
  expect(linkOf({ relayer_id: 'a|b>c' })).toBe('https://relayer.example/r/console#/relayers/a%7Cb%3Ec')
  expect(readAnnouncement(bodyOf())?.link).toBeUndefined()
})

test('events of transactions are announced nowhere', () => {
  const body = JSON.stringify({
    id: 'x',
    event: 'transaction_update',
    timestamp: '2026-11-20T10:00:00.012Z',
    payload: {},
  })
  expect(readAnnouncement(body)).toBeUndefined()
})
