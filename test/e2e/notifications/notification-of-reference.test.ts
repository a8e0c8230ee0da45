import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkWebhook, type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let ofRelayer: Receiver
let ofCustomer: Receiver
let story: Scenario

beforeAll(async () => {
  ofRelayer = await startReceiver()
  ofCustomer = await startReceiver()
  story = await startScenario({
    notificationUrl: ofRelayer.url,
    env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' },
  })
}, 60_000)
afterAll(async () => {
  await story.stop()
  await ofRelayer.stop()
  await ofCustomer.stop()
})

const api = (method: string, path: string, body?: object) =>
  story.service.api<{ id: string; transactions?: object }>(method, `/notifications${path}`, body)

/** The statuses of a transaction that a receiver was told, after the last one has arrived. */
async function told(receiver: Receiver, id: string): Promise<readonly (string | undefined)[]> {
  const bodies = await until(
    async () => receiver.received.map(({ body }) => body).filter(({ payload }) => payload.id === id),
    (list) => list.some(({ payload }) => payload.status === 'confirmed'),
  )
  return bodies.map(({ payload }) => payload.status)
}

async function confirmed(body: object): Promise<string> {
  const { id } = await story.send({ to: RECEIVER, value: 1, speed: 'fast', ...body })
  await story.reach(id, 'submitted')
  await story.settle()
  return id
}

/** The key of the environment sends what has no key of its own here. */
const of = (reference: string) => ({ reference, requested_by: 'root' })

const EVERY = ['pending', 'sent', 'submitted', 'mined', 'confirmed']

describe('a notification with a reference', () => {
  test('gets each event of the transactions with it, with their description, in place of that of the relayer', async () => {
    const created = await api('POST', '', {
      id: 'seven',
      url: ofCustomer.url,
      transactions: of('customer-7'),
    })
    expect(created).toMatchObject({ status: 201, body: { data: { transactions: of('customer-7') } } })
    const mine = await confirmed({ reference: 'customer-7', description: 'two reports' })
    const other = await confirmed({ reference: 'customer-8' })
    expect(await told(ofCustomer, mine)).toEqual(EVERY)
    expect(await told(ofRelayer, other)).toEqual(EVERY)
    expect(ofRelayer.received.filter(({ body }) => body.payload.id === mine)).toEqual([])
    for (const { text, body } of ofCustomer.received) {
      expect(checkWebhook(text)).toBeUndefined()
      expect(body.payload).toMatchObject({ id: mine, reference: 'customer-7', description: 'two reports' })
    }
  })

  test('is the only one with it; another one may have it afterwards', async () => {
    const second = { url: ofCustomer.url, transactions: of('customer-9') }
    const { body: first } = await api('POST', '', second)
    expect(await api('POST', '', second)).toMatchObject({
      status: 409,
      body: { code: 'already_exists', error: expect.stringContaining('body.transactions') },
    })
    const { body: other } = await api('POST', '', { url: ofCustomer.url })
    const taken = await api('PATCH', `/${other.data.id}`, { transactions: of('customer-9') })
    expect(taken).toMatchObject({ status: 409, body: { code: 'already_exists' } })
    expect((await api('PATCH', `/${first.data.id}`, { transactions: null })).body.data).not.toHaveProperty(
      'transactions',
    )
    const given = await api('PATCH', `/${other.data.id}`, { transactions: of('customer-9') })
    expect(given).toMatchObject({ status: 200, body: { data: { transactions: of('customer-9') } } })
  })

  test('is a webhook', async () => {
    const slack = {
      type: 'slack',
      url: 'https://hooks.slack.com/services/T0/B0/secret',
      transactions: of('x'),
    }
    expect(await api('POST', '', slack)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('body.transactions') },
    })
  })

  test("is told nothing by another key that uses the reference, whose events the relayer's notification gets", async () => {
    const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Narrow',
      scopes: ['transactions:write'],
      relayers: ['main'],
    })
    const request = { to: RECEIVER, value: 1, speed: 'fast', reference: 'customer-7' }
    const sent = await story.service.api<{ id: string }>('POST', '/relayers/main/transactions', request, {
      authorization: `Bearer ${body.data.secret}`,
    })
    const { id } = sent.body.data
    await story.reach(id, 'submitted')
    await story.settle()
    expect(await told(ofRelayer, id)).toEqual(EVERY)
    expect(ofCustomer.received.filter(({ body: { payload } }) => payload.id === id)).toEqual([])
  })

  test('gives way to that of the relayer when it is deleted', async () => {
    expect((await api('DELETE', '/seven')).status).toBe(200)
    expect(await told(ofRelayer, await confirmed({ reference: 'customer-7' }))).toEqual(EVERY)
  })
})

test('a replacement keeps the description of its transaction', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 1, speed: 'safeLow', description: 'a report' })
  await story.reach(id, 'submitted')
  const refused = await story.replace(id, { to: RECEIVER, value: 2, speed: 'fastest', description: 'b' })
  expect([refused.status, refused.body.error]).toEqual([
    400,
    expect.stringContaining('body.description: expected to be absent'),
  ])
  const { body } = await story.replace(id, { to: RECEIVER, value: 2, speed: 'fastest' })
  expect(body.data).toMatchObject({ description: 'a report' })
  await story.settle()
})
