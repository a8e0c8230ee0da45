import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, anvilNetwork, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { type ServiceProcess, startProcess } from '../../support/process.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { callService, DEV_KEYS, plainSigner, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Event = Schemas['Event']

const KILLS = 4
const SENT_BEFORE_EACH = 12

let anvil: Anvil
let receiver: Receiver
let folder: string
let running: ServiceProcess

const start = () => {
  const hooks = { on_event: { types: ['transaction_update'] } }
  const path = join(import.meta.dirname, 'fixtures', 'telling.ts')
  return startProcess({
    rpcUrl: anvil.url,
    folder,
    config: {
      relayers: [{ id: 'main', name: 'Main', signer_id: 'dev', ...ON_ANVIL }],
      signers: [plainSigner('dev', DEV_KEYS[0])],
      notifications: [],
      networks: [anvilNetwork([anvil.url])],
      plugins: [{ id: 'teller', path, config: { url: receiver.url }, hooks }],
    },
  })
}

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  receiver = await startReceiver()
  folder = await mkdtemp(join(tmpdir(), 'relayer-hook-kill-'))
  running = await start()
}, 60_000)
afterAll(async () => {
  await running?.kill()
  await receiver?.stop()
  await anvil?.stop()
  await rm(folder, { recursive: true })
})

async function allEvents(): Promise<Event[]> {
  const events: Event[] = []
  for (;;) {
    const after = events.at(-1)?.number ?? '0'
    const path = `/events?type=transaction_update&limit=100&after=${after}`
    const { status, body } = await callService<Event[]>(running.url, { method: 'GET', path })
    expect(status).toBe(200)
    if (body.data.length === 0) return events
    events.push(...body.data)
  }
}

const arrived = () => receiver.received.map(({ body }) => body as unknown as Event)

test('a service that is killed during calls loses no event, and keeps the order of each transaction', async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = receiver.received.length
    const dead = Promise.withResolvers<void>()
    receiver.behave(() => {
      // In the middle of a page: some of its calls have ended, and others have not.
      if (receiver.received.length === before + 7 + kill * 5) running.kill().then(dead.resolve, dead.reject)
      return 204
    })
    for (let sent = 0; sent < SENT_BEFORE_EACH; sent += 1)
      await callService(running.url, {
        method: 'POST',
        path: '/relayers/main/transactions',
        body: { to: RECEIVER, value: 1, speed: 'fast' },
      }).catch(() => undefined)
    await dead.promise
    running = await start()
  }
  receiver.behave(() => 204)
  const open = async () => {
    const { body } = await callService<unknown>(running.url, {
      method: 'GET',
      path: '/relayers/main/transactions?status=confirmed&per_page=0',
    })
    const all = await callService<unknown>(running.url, {
      method: 'GET',
      path: '/relayers/main/transactions?per_page=0',
    })
    return Number(all.body.pagination?.total_items) - Number(body.pagination?.total_items)
  }
  await until(open, (count) => count === 0, { timeoutMs: 90_000 })
  const events = await allEvents()
  await until(
    async () => new Set(arrived().map(({ number }) => number)).size,
    (size) => size >= events.length,
  )
  const first = [...new Map(arrived().map((event) => [event.number, event])).values()]
  expect(new Set(first.map(({ number }) => number))).toEqual(new Set(events.map(({ number }) => number)))
  for (const [id, own] of Map.groupBy(first, (event) => event.transaction_id)) {
    const expected = events.filter((event) => event.transaction_id === id).map(({ number }) => number)
    expect(own.map(({ number }) => number)).toEqual(expected)
  }
  // It was killed between a call and the write that notes it.
  expect(arrived().length).toBeGreaterThan(events.length)
}, 240_000)
