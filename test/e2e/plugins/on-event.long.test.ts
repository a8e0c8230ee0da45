import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const PATH = join(import.meta.dirname, 'fixtures', 'telling.ts')

type Event = Schemas['Event']

let story: Scenario
let receiver: Receiver
let others: Receiver

beforeAll(async () => {
  receiver = await startReceiver()
  others = await startReceiver()
  story = await startScenario({
    plugins: [
      { id: 'main', path: PATH, relayers: ['main'], config: { url: receiver.url }, hooks: { on_event: {} } },
      {
        id: 'other',
        path: PATH,
        relayers: ['other'],
        config: { url: others.url },
        hooks: { on_event: { types: ['relayer_state_update', 'alert'] } },
      },
    ],
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  })
}, 60_000)
afterAll(async () => {
  await story?.stop()
  await receiver?.stop()
  await others?.stop()
})

const toldTo = ({ received }: Receiver) => received.map(({ body }) => body as unknown as Event)
const told = (id: string) =>
  toldTo(receiver)
    .filter((event) => event.transaction_id === id)
    .map(({ payload }) => (payload as { status?: string }).status)
const pay = () => story.send({ to: RECEIVER, value: 1, speed: 'fast' })
const waiting = async () => {
  const { body } = await story.service.api<Schemas['Plugin']>('GET', '/plugins/main')
  return body.data.hooks?.on_event
}

test('a plugin is called with each event of its relayers, as the API shows it', async () => {
  const { id } = await pay()
  await story.reach(id, 'submitted')
  await until(
    async () => told(id),
    (statuses) => statuses.includes('submitted'),
  )
  expect(told(id)).toEqual(['pending', 'sent', 'submitted'])
  const { body } = await story.service.api<Event[]>('GET', `/events?transaction_id=${id}`)
  const numbers = new Set(body.data.map(({ number }) => number))
  expect(toldTo(receiver).filter(({ number }) => numbers.has(number))).toEqual(body.data)
  await story.settle()
})

test('a plugin is not called with events of other relayers and other types', async () => {
  const sent = await story.service.api('POST', '/relayers/other/transactions', {
    to: RECEIVER,
    value: 1,
    speed: 'fast',
  })
  const { id } = await pay()
  await until(
    async () => told(id),
    (statuses) => statuses.includes('submitted'),
  )
  expect(told(sent.body.data.id)).toEqual([])
  expect(others.received).toEqual([])
  await story.settle()
})

test('an event that fails is tried again, and stops no other transaction', async () => {
  const refused = await pay()
  receiver.behave(({ body }) => (body.payload.id === refused.id ? 503 : 204))
  await story.reach(refused.id, 'submitted')
  const { id } = await pay()
  await until(
    async () => told(id),
    (statuses) => statuses.includes('submitted'),
  )
  const before = await until(
    waiting,
    (hook) => (hook?.waiting ?? 0) >= 2 && hook?.failing_since !== undefined,
  )
  expect(before).toMatchObject({ timeout: 30 })
  receiver.behave(() => 204)
  await until(waiting, (hook) => hook?.waiting === 0)
  await story.settle()
  await until(
    async () => told(refused.id),
    (statuses) => statuses.includes('confirmed') || statuses.includes('mined'),
  )
  // Only what failed was repeated, before everything that follows it.
  const statuses = told(refused.id)
  expect(statuses.filter((status, index) => statuses.indexOf(status) === index).slice(0, 4)).toEqual([
    'pending',
    'sent',
    'submitted',
    'mined',
  ])
  expect(await waiting()).not.toHaveProperty('failing_since')
  const text = await (await fetch(`${story.service.metricsUrl}`)).text()
  expect(text).toMatch(/plugin_events_total\{plugin_id="main",result="failed"\} [1-9]/)
  expect(text).toMatch(/plugin_events_total\{plugin_id="main",result="handled"\} [1-9]/)
})

test('an event that ends the process of the plugin stops no other transaction', async () => {
  const deadly = await pay()
  receiver.behave(({ body }) => (body.payload.id === deadly.id ? 418 : 204))
  await story.reach(deadly.id, 'submitted')
  const { id } = await pay()
  await until(
    async () => told(id),
    (statuses) => statuses.includes('submitted'),
  )
  receiver.behave(() => 204)
  await until(
    async () => told(deadly.id),
    (statuses) => statuses.includes('submitted'),
  )
  await story.settle()
})
