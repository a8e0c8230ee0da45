import { randomBytes } from 'node:crypto'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createLogger } from '../../../src/log.ts'
import { type AlertServices, SLACK_SECRET, startAlertServices } from '../../support/alert-services.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { DEV_ADDRESSES, type Service, startService } from '../../support/service.ts'
import { type SmtpReceiver, startSmtpReceiver } from '../../support/smtp-receiver.ts'
import { until } from '../../support/until.ts'

const ETH = 10n ** 18n
const ROUTING_KEY = '0123456789abcdef0123456789abcdef'
const GENIE_KEY = 'a1b2c3d4-1111-2222-3333-444455556666'
const SECRETS = [ROUTING_KEY, GENIE_KEY, SLACK_SECRET]

/** The time passes in such steps, in ms, so that no wait of the service is skipped. */
const STEP_MS = 5_000

let anvil: Anvil
let services: AlertServices
let smtp: SmtpReceiver
let clock: AdjustableClock
let service: Service
let logged = ''

beforeAll(async () => {
  anvil = await startAnvil()
  services = await startAlertServices()
  smtp = await startSmtpReceiver({ authOptional: true })
  clock = createAdjustableClock()
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      logged += String(chunk)
      done()
    },
  })
  service = await startService({
    rpcUrls: [anvil.url],
    clock,
    policies: { warn_balance: String(ETH / 2n) },
    log: createLogger({ level: 'trace' }, destination),
    env: {
      STORAGE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      RELAYER_ALLOW_PRIVATE_URLS: 'true',
      RELAYER_PUBLIC_URL: 'https://relayer.example/',
      RELAYER_SMTP_URL: `smtp://127.0.0.1:${smtp.port}?tls=off`,
      RELAYER_SMTP_FROM: 'relayer@example.com',
    },
  })
  await create({ id: 'team', type: 'slack', url: services.slackUrl })
  await create({ id: 'pager', type: 'pagerduty', url: services.url, integration_key: ROUTING_KEY })
  await create({ id: 'genie', type: 'opsgenie', url: services.url, integration_key: GENIE_KEY })
  await create({ id: 'mail', type: 'email', url: 'mailto:ops@example.com' })
  await create({ id: 'halts', type: 'slack', url: services.slackUrl, alerts: ['chain_halted'] })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await smtp.stop()
  await services.stop()
  await anvil.stop()
})

const call = <Data = Schemas['Notification']>(method: string, path: string, body?: object) =>
  service.api<Data>(method, `/notifications${path}`, body)

async function create(body: object): Promise<Schemas['Notification']> {
  const answer = await call('POST', '', body)
  expect(answer.body.error).toBeUndefined()
  expect(answer.status).toBe(201)
  return answer.body.data
}

async function refusal(method: string, path: string, body: object) {
  const { status, body: failure } = await call(method, path, body)
  return [status, failure.error]
}

const setBalance = (wei: bigint) => anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], `0x${wei.toString(16)}`])

/** Lets the time pass until so many alerts have been told. */
const told = (count: number) =>
  until(
    async () => {
      clock.advance(STEP_MS)
      const { body } = await service.api<Schemas['Event'][]>('GET', '/events?type=alert&limit=100')
      return body.data
    },
    (events) => events.length >= count,
  )

/** Four receivers, and the webhook of the relayer. */
const TOLD_AT_ONCE = 5

test('a low balance begins and ends at every receiver, in coins, in order though the beginning fails first', async () => {
  services.fail('pagerduty', 503, 1)
  await setBalance(ETH / 10n)
  await told(TOLD_AT_ONCE)
  await until(
    async () => services.received.filter((one) => one.service === 'pagerduty'),
    (list) => list.length >= 1,
  )
  await setBalance(ETH)
  await told(2 * TOLD_AT_ONCE)
  const incident = await services.taken('pagerduty', 2)
  expect(incident.map(({ body }) => body.event_action)).toEqual(['trigger', 'resolve'])
  expect(new Set(incident.map(({ body }) => body.dedup_key)).size).toBe(1)
  expect(incident[0]?.body).toMatchObject({
    client_url: 'https://relayer.example/console#/relayers/main',
    payload: { summary: expect.stringContaining('can spend 0.1 ETH; its warn_balance is 0.5 ETH') },
  })
  const genie = await services.taken('opsgenie', 2)
  expect(genie.map(({ path }) => path)).toEqual([
    '/v2/alerts',
    `/v2/alerts/${genie[0]?.body.alias}/close?identifierType=alias`,
  ])
  const slack = await services.taken('slack', 2)
  expect(slack.map(({ body }) => body.blocks?.[0]?.text?.text)).toEqual([
    '🟠 Balance low: relayer main on evm:anvil',
    '✅ Resolved: Balance low: relayer main on evm:anvil',
  ])
  const [begun, ended] = await smtp.arrived(2)
  expect(ended?.headers.get('references')).toBe(begun?.headers.get('message-id'))
  expect(begun?.text).toContain('0.1 ETH')
}, 90_000)

test('no key is in an answer, in a delivery, in the audit log or in the log', async () => {
  const shown: string[] = []
  for (const id of ['team', 'pager', 'genie', 'mail']) {
    const { body } = await call<Schemas['Delivery'][]>('GET', `/${id}/deliveries`)
    shown.push(JSON.stringify((await call('GET', `/${id}`)).body), JSON.stringify(body))
    const delivery = await call<Schemas['DeliveryWithExchange']>(
      'GET',
      `/${id}/deliveries/${body.data[0]?.id}`,
    )
    shown.push(JSON.stringify(delivery.body))
    expect(delivery.body.data.status).toBe('delivered')
  }
  shown.push(JSON.stringify((await service.api<object>('GET', '/audit?per_page=100')).body), logged)
  for (const secret of SECRETS) expect(shown.filter((text) => text.includes(secret))).toEqual([])
  const pager = await call<Schemas['Delivery'][]>('GET', '/pager/deliveries')
  const one = await call<Schemas['DeliveryWithExchange']>(
    'GET',
    `/pager/deliveries/${pager.body.data[0]?.id}`,
  )
  expect(JSON.parse(one.body.data.body)).toMatchObject({
    routing_key: '***',
    event_action: expect.any(String),
  })
})

test('a test reaches each of them', async () => {
  const before = smtp.mails.length
  for (const id of ['team', 'pager', 'genie', 'mail'])
    expect((await call('POST', `/${id}/test`)).status).toBe(200)
  expect((await services.taken('pagerduty', 3)).at(-1)?.body.payload?.summary).toContain(
    'Test of notification pager',
  )
  await services.taken('opsgenie', 3)
  await services.taken('slack', 3)
  const mails = await smtp.arrived(before + 1)
  expect(mails.at(-1)?.headers.get('subject')).toBe('Test of notification mail')
})

describe('a caller who may create notifications', () => {
  test('cannot have a stored key sent to a host of their own', async () => {
    const moved = { url: 'http://127.0.0.1:9/' }
    expect(await refusal('PATCH', '/pager', moved)).toEqual([
      400,
      expect.stringContaining('body.integration_key'),
    ])
    expect(
      (await call('PATCH', '/pager', { ...moved, integration_key: 'a-key-of-their-own-0' })).status,
    ).toBe(200)
    await call('POST', '/pager/test')
    const back = { url: services.url, integration_key: ROUTING_KEY }
    expect((await call('PATCH', '/pager', back)).status).toBe(200)
  })

  test('cannot send mails to anyone', async () => {
    for (const url of ['mailto:victim@other.example', 'mailto:ops@example.com,victim@other.example'])
      expect(await refusal('POST', '', { type: 'email', url })).toEqual([
        400,
        expect.stringContaining('RELAYER_SMTP_RECIPIENT_DOMAINS'),
      ])
    expect(await refusal('PATCH', '/mail', { url: 'mailto:victim@other.example' })).toEqual([
      400,
      expect.stringContaining('body.url'),
    ])
  })

  test.each([
    [{ type: 'pagerduty' }, 'integration_key'],
    [{ type: 'slack' }, 'url'],
    [{ type: 'webhook' }, 'url'],
    [{ type: 'email', url: 'https://example.com' }, 'url'],
    [{ type: 'slack', url: 'http://169.254.169.254/latest' }, 'url'],
    [{ type: 'opsgenie', url: 'http://169.254.169.254/', integration_key: GENIE_KEY }, 'url'],
    [{ type: 'slack', url: 'mailto:ops@example.com' }, 'url'],
    [{ type: 'slack', url: 'https://example.com', signing_key: 'x'.repeat(32) }, 'signing_key'],
    [{ type: 'slack', url: 'https://example.com', integration_key: ROUTING_KEY }, 'integration_key'],
    [{ type: 'webhook', url: 'https://example.com', alerts: ['balance_low'] }, 'alerts'],
    [{ type: 'slack', url: 'https://example.com', alerts: ['nothing'] }, 'alerts'],
  ])('is told what is wrong with %j', async (body, field) => {
    expect(await refusal('POST', '', body)).toEqual([400, expect.stringContaining(`body.${field}`)])
  })

  test('cannot change the type, nor have a relayer name one for alerts, nor let it sign', async () => {
    expect(await refusal('PATCH', '/team', { type: 'webhook' })).toEqual([
      400,
      expect.stringContaining('body.type'),
    ])
    const named = await service.api('PATCH', '/relayers/other', { notification_id: 'team' })
    expect([named.status, named.body.error]).toEqual([400, expect.stringContaining('of type slack')])
    const key = { signing_key: 'x'.repeat(32) }
    expect((await call('POST', '/team/signing-key', key)).body.code).toBe('not_supported')
  })
})

test('the alerts of a notification can be selected, and all again', async () => {
  expect((await call('GET', '/halts')).body.data.alerts).toEqual(['chain_halted'])
  const patched = await call('PATCH', '/halts', { alerts: ['balance_low', 'delivery_dead'] })
  expect(patched.body.data.alerts).toEqual(['balance_low', 'delivery_dead'])
  expect((await call('PATCH', '/halts', { alerts: null })).body.data).not.toHaveProperty('alerts')
})
