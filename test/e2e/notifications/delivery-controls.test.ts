import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { checkWebhook, type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { SIGNING_KEY } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const NEW_KEY = 'another-signing-key-of-thirty-two-characters'

let receiver: Receiver
let story: Scenario

beforeAll(async () => {
  receiver = await startReceiver()
  const env = { STORAGE_ENCRYPTION_KEY: randomBytes(32).toString('base64') }
  story = await startScenario({ notificationUrl: receiver.url, env })
}, 60_000)
beforeEach(() => receiver.behave(() => 204))
afterAll(async () => {
  await story.stop()
  await receiver.stop()
})

const call = <Data>(method: string, path: string, body?: object) =>
  story.service.api<Data>(method, `/notifications/ops${path}`, body)

async function sendTest(): Promise<string> {
  const { status, body } = await call<Schemas['TestEvent']>('POST', '/test')
  expect(status).toBe(200)
  return body.data.event_id
}

/** Waits until the delivery of the event is as wanted. */
async function delivery(eventId: string, status: string): Promise<Schemas['Delivery']> {
  const list = await until(
    async () => (await call<Schemas['Delivery'][]>('GET', '/deliveries?per_page=100')).body.data,
    (items) => items.some((item) => item.event_id === eventId && item.status === status),
  )
  return list.find((item) => item.event_id === eventId) as Schemas['Delivery']
}

const requestsOf = (eventId: string) => receiver.received.filter(({ body }) => body.id === eventId)

test('a test event is delivered, and its delivery shows request and answer', async () => {
  receiver.behave(() => (response) => response.writeHead(200, { 'x-seen': 'yes' }).end('thanks'))
  const eventId = await sendTest()
  const listed = await delivery(eventId, 'delivered')
  expect(listed).toMatchObject({ event: 'notification_test', tries: 1, response_code: 200 })
  const { body } = await call<Schemas['DeliveryWithExchange']>('GET', `/deliveries/${listed.id}`)
  const [request] = requestsOf(eventId)
  expect(body.data).toMatchObject({
    ...listed,
    body: request?.text,
    request: { url: receiver.url.replace(/hook$/, '***'), headers: { 'webhook-id': eventId } },
    response: { code: 200, headers: { 'x-seen': 'yes' }, body: 'thanks' },
  })
  expect(checkWebhook(request?.text ?? '')).toBeUndefined()
  expect(JSON.stringify(body)).not.toContain(SIGNING_KEY)
})

test('a paused notification sends nothing, and a resumed one everything', async () => {
  const { body } = await call<Schemas['Notification']>('POST', '/pause')
  expect(body.data).toMatchObject({ paused: true, paused_reason: 'operator' })
  const eventId = await sendTest()
  await delivery(eventId, 'pending')
  const list = await story.service.api<Schemas['Notification'][]>('GET', '/notifications')
  expect(list.body.data[0]).toMatchObject({ id: 'ops', paused: true })
  expect(requestsOf(eventId)).toEqual([])
  expect((await call<Schemas['Notification']>('POST', '/resume')).body.data).not.toHaveProperty('paused')
  await delivery(eventId, 'delivered')
})

test('a delivered event is delivered again under the same id', async () => {
  const eventId = await sendTest()
  const { id } = await delivery(eventId, 'delivered')
  const { status, body } = await call<Schemas['Delivery']>('POST', `/deliveries/${id}/redeliver`)
  expect([status, body.data.status]).toEqual([200, 'pending'])
  await until(
    async () => requestsOf(eventId).length,
    (count) => count === 2,
  )
  const [first, second] = requestsOf(eventId)
  expect(second?.text).toBe(first?.text)
  expect(await delivery(eventId, 'delivered')).toMatchObject({ tries: 2 })
})

test('a delivery that waits for its next try is tried now', async () => {
  receiver.behave(() => 503)
  const eventId = await sendTest()
  const waiting = await until(
    () => delivery(eventId, 'pending'),
    ({ tries }) => tries === 1,
  )
  expect(waiting).toHaveProperty('next_try_at')
  receiver.behave(() => 204)
  await call('POST', `/deliveries/${waiting.id}/redeliver`)
  await delivery(eventId, 'delivered')
})

test('a range of events is delivered again', async () => {
  const events = [await sendTest(), await sendTest(), await sendTest()]
  const items = await Promise.all(events.map((eventId) => delivery(eventId, 'delivered')))
  const { body } = await call<Schemas['RedeliveryCount']>('POST', '/redeliver', {
    from: items[0]?.event_number,
    to: items[1]?.event_number,
  })
  expect(body.data).toEqual({ redelivered: 2, remaining: 0 })
  await until(
    async () => events.map((eventId) => requestsOf(eventId).length),
    ([first, second]) => first === 2 && second === 2,
  )
  expect(requestsOf(events[2] ?? '')).toHaveLength(1)
})

test('a new signing key signs immediately, and the previous one beside it', async () => {
  const { status, body } = await call<Schemas['SigningKeyRotation']>('POST', '/signing-key', {
    signing_key: NEW_KEY,
  })
  expect(status).toBe(200)
  expect(JSON.stringify(body)).not.toContain(NEW_KEY)
  const inADay = Date.parse(body.data.previous_key_expires_at ?? '') - Date.now()
  expect(inADay).toBeGreaterThan(86_340_000)
  const eventId = await sendTest()
  await delivery(eventId, 'delivered')
  const [request] = requestsOf(eventId)
  const by = (key: string) =>
    createHmac('sha256', key)
      .update(request?.text ?? '')
      .digest('base64')
  expect(request?.headers['x-signature']).toBe(by(NEW_KEY))
  expect(request?.headers['x-signature-previous']).toBe(by(SIGNING_KEY))
  expect(String(request?.headers['webhook-signature']).split(' ')).toHaveLength(2)
})

test.each([
  ['GET', '/notifications/nobody/deliveries', undefined, 'notification_not_found'],
  ['POST', '/notifications/nobody/test', undefined, 'notification_not_found'],
  ['POST', '/notifications/nobody/pause', undefined, 'notification_not_found'],
  ['POST', '/notifications/nobody/resume', undefined, 'notification_not_found'],
  ['POST', '/notifications/nobody/redeliver', { status: 'dead' }, 'notification_not_found'],
  ['POST', '/notifications/nobody/signing-key', { signing_key: NEW_KEY }, 'notification_not_found'],
  ['GET', '/notifications/ops/deliveries/nothing', undefined, 'delivery_not_found'],
  ['POST', '/notifications/ops/deliveries/nothing/redeliver', undefined, 'delivery_not_found'],
])('%s %s is 404 %#', async (method, path, body, code) => {
  const answer = await story.service.api(method, path, body)
  expect([answer.status, answer.body.code]).toEqual([404, code])
})

test.each([
  ['/signing-key', { signing_key: 'short' }, 'signing_key'],
  ['/redeliver', { status: 'delivered' }, 'status'],
  ['/redeliver', { from: '1' }, 'to'],
])('%s %o is 400', async (path, body, field) => {
  const answer = await call('POST', path, body)
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(field)])
})
