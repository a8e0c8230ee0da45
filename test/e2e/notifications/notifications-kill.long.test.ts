import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type ServiceProcess, startProcess } from '../../support/process.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { callService, RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Short, so that what a dead process had taken is given out again soon. */
const ENV = { RELAYER_WEBHOOK_TIMEOUT_SECONDS: '1' }

let anvil: Anvil
let receiver: Receiver
let folder: string
let running: ServiceProcess

const start = () => startProcess({ rpcUrl: anvil.url, folder, notificationUrl: receiver.url, env: ENV })

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  receiver = await startReceiver()
  folder = await mkdtemp(join(tmpdir(), 'relayer-kill-'))
  running = await start()
}, 60_000)
afterAll(async () => {
  await running.kill()
  await receiver.stop()
  await anvil.stop()
  await rm(folder, { recursive: true })
})

async function send(): Promise<Transaction> {
  const body = { to: RECEIVER, value: 1, speed: 'fast' }
  const answer = await callService<Transaction>(running.url, {
    method: 'POST',
    path: '/relayers/main/transactions',
    body,
  })
  expect(answer.status).toBe(200)
  return answer.body.data
}

/** Statuses told of a transaction, with repetitions of an event left out. */
function told(id: string): string[] {
  const bodies = new Map(receiver.received.map(({ body }) => [body.id, body]))
  return [...bodies.values()]
    .filter(({ payload }) => payload.id === id)
    .map(({ payload }) => payload.status ?? '')
}

test('an event that was committed before the service is killed arrives after the restart', async () => {
  await receiver.down()
  const { id } = await send()
  await running.kill()
  await receiver.up()
  running = await start()
  await until(
    async () => told(id),
    (statuses) => statuses.includes('submitted'),
    { timeoutMs: 60_000 },
  )
  expect(told(id)).toEqual(['pending', 'sent', 'submitted'])
}, 90_000)

test('an event that was delivered before the service is killed arrives again under the same id', async () => {
  const before = receiver.received.length
  const dead = Promise.withResolvers<void>()
  receiver.behave(() => {
    if (receiver.received.length > before + 1) return 204
    running.kill().then(dead.resolve, dead.reject)
    return () => {}
  })
  // Whether the answer of the API made it out before the kill does not matter.
  await send().catch(() => undefined)
  await dead.promise
  const id = receiver.received[before]?.body.payload.id ?? ''
  running = await start()
  await until(
    async () => told(id),
    (statuses) => statuses.includes('submitted'),
    { timeoutMs: 60_000 },
  )
  expect(told(id)).toEqual(['pending', 'sent', 'submitted'])
  const first = receiver.received.filter(
    ({ body }) => body.payload.id === id && body.payload.status === 'pending',
  )
  expect(first).toHaveLength(2)
  expect(new Set(first.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(new Set(first.map(({ text }) => text)).size).toBe(1)
}, 90_000)
