import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkWebhook, type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, SIGNING_KEY } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let receiver: Receiver
let story: Scenario

beforeAll(async () => {
  receiver = await startReceiver()
  story = await startScenario({ notificationUrl: receiver.url })
}, 60_000)
afterAll(async () => {
  await story.stop()
  await receiver.stop()
})

const bodiesOf = (id: string) =>
  receiver.received.map(({ body }) => body).filter(({ payload }) => payload.id === id)

async function told(id: string, status: string): Promise<string[]> {
  const bodies = await until(
    async () => bodiesOf(id),
    (list) => list.some(({ payload }) => payload.status === status),
  )
  return bodies.map(({ payload }) => payload.status ?? '')
}

test('each change of a transaction arrives, in order, signed both ways, and as the contract says', async () => {
  const { id } = await story.send({ to: RECEIVER, value: '340282366920938463', speed: 'fast' })
  await story.reach(id, 'submitted')
  await story.settle()
  expect(await told(id, 'confirmed')).toEqual(['pending', 'sent', 'submitted', 'mined', 'confirmed'])
  for (const { text, headers, body } of receiver.received.filter((one) => one.body.payload.id === id)) {
    expect(checkWebhook(text)).toBeUndefined()
    expect(headers['x-signature']).toBe(createHmac('sha256', SIGNING_KEY).update(text).digest('base64'))
    const library = new Webhook(Buffer.from(SIGNING_KEY).toString('base64'))
    expect(library.verify(text, headers as Record<string, string>)).toMatchObject({ id: body.id })
    expect(headers['webhook-id']).toBe(body.id)
  }
})

test('a payload is the transaction as it was then', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 1, speed: 'safeLow' })
  await story.reach(id, 'submitted')
  const { body } = await story.replace(id, { to: RECEIVER, value: 2, speed: 'fastest' })
  const { body: log } = await story.service.api<
    { transaction_id: string; payload: Record<string, unknown> }[]
  >('GET', '/events?limit=100')
  const payloads = log.data.filter((event) => event.transaction_id === id).map(({ payload }) => payload)
  const [accepted, signed, taken, replaced] = payloads
  expect(accepted).toMatchObject({ payload_type: 'transaction', status: 'pending', value: '1' })
  expect(accepted).not.toHaveProperty('hash')
  expect(signed).toMatchObject({ status: 'sent', value: '1' })
  expect(signed).not.toHaveProperty('sent_at')
  expect(taken).toMatchObject({ status: 'submitted', value: '1', hash: signed?.hash })
  expect(taken).toHaveProperty('sent_at')
  expect(replaced).toMatchObject({ value: '2', hash: body.data.hash })
  await story.settle()
})

test('accounts without a notification have events and no deliveries', async () => {
  const { body } = await story.service.api<{ id: string }>('POST', '/relayers/other/transactions', {
    to: RECEIVER,
    value: 1,
  })
  const log = await until(
    () => story.service.api<{ transaction_id: string }[]>('GET', '/events?relayer_id=other'),
    ({ body: seen }) => seen.data.length >= 3,
  )
  expect(new Set(log.body.data.map((event) => event.transaction_id))).toEqual(new Set([body.data.id]))
  expect(bodiesOf(body.data.id)).toEqual([])
  await story.settle()
})
