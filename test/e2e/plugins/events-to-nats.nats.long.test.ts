import { join } from 'node:path'
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type NatsServer, startNats } from '../../support/nats.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Event = Schemas['Event']

let nats: NatsServer
let story: Scenario

beforeAll(async () => {
  nats = await startNats()
  story = await startScenario({
    plugins: [
      {
        id: 'events-to-nats',
        path: join(import.meta.dirname, '../../../plugins/events-to-nats/events-to-nats.ts'),
        config: { stream: 'RELAYER', subject: 'relayer' },
        scopes: [],
        env: ['NATS_URL'],
        hooks: { on_event: {} },
      },
    ],
    env: { NATS_URL: nats.url },
  })
}, 60_000)
afterAll(async () => {
  await story?.stop()
  await nats?.stop()
})

/** Reads the whole stream. */
async function stored(): Promise<{ subject: string; event: Event }[]> {
  const connection: NatsConnection = await connect({ servers: nats.url })
  try {
    const manager = await jetstreamManager(connection)
    const { state } = await manager.streams.info('RELAYER')
    await manager.consumers.add('RELAYER', { name: 'test', ack_policy: AckPolicy.None })
    const consumer = await jetstream(connection).consumers.get('RELAYER', 'test')
    const found: { subject: string; event: Event }[] = []
    for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 5_000 }))
      found.push({ subject: message.subject, event: message.json<Event>() })
    await manager.consumers.delete('RELAYER', 'test')
    return found
  } finally {
    await connection.close()
  }
}

async function sendAndMine(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await story.send({ to: RECEIVER, value: 1, speed: 'fast' })
  await story.settle()
}

const logged = async () =>
  (await story.service.api<Event[]>('GET', '/events?type=transaction_update&limit=100')).body.data

const waitUntilStored = (events: readonly Event[]) =>
  until(
    async () => (await stored()).length,
    (length) => length >= events.length,
  )

test('the stream gets every event once, in the order of each transaction, even over an outage', async () => {
  await sendAndMine(3)
  await waitUntilStored(await logged())
  await nats.kill()
  await sendAndMine(3)
  await nats.start()
  const events = await logged()
  await waitUntilStored(events)
  const found = await stored()
  expect(new Set(found.map(({ event }) => event.id))).toEqual(new Set(events.map(({ id }) => id)))
  expect(found).toHaveLength(events.length)
  expect(new Set(found.map(({ subject }) => subject))).toEqual(new Set(['relayer.main.transaction_update']))
  for (const [id, own] of Map.groupBy(found, ({ event }) => event.transaction_id))
    expect(own.map(({ event }) => event)).toEqual(events.filter((event) => event.transaction_id === id))
}, 180_000)
