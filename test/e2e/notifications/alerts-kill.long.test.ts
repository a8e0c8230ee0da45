import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type ServiceProcess, startProcess } from '../../support/process.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { callService, DEV_ADDRESSES } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let anvil: Anvil
let receiver: Receiver
let folder: string
let running: ServiceProcess

const start = () => startProcess({ rpcUrl: anvil.url, folder, notificationUrl: receiver.url })

beforeAll(async () => {
  anvil = await startAnvil()
  await setBalance('0x0')
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

function setBalance(wei: string): Promise<unknown> {
  return anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], wei])
}

/** The states of the alert in the event log. */
async function told(): Promise<string[]> {
  const path = '/events?type=alert'
  const { body } = await callService<Schemas['Event'][]>(running.url, { method: 'GET', path })
  return body.data.flatMap(({ payload }) => (payload.payload_type === 'alert' ? payload.state : []))
}

async function killWhen(count: number): Promise<void> {
  await until(told, (states) => states.length >= count, { timeoutMs: 60_000 })
  await running.kill()
  running = await start()
}

test('a service that is killed as soon as an alert begins or ends repeats neither, and loses neither', async () => {
  await killWhen(1)
  expect(await told()).toEqual(['firing'])
  await setBalance('0xde0b6b3a7640000')
  await killWhen(2)
  expect(await told()).toEqual(['firing', 'resolved'])
  const arrived = await until(
    async () => new Set(receiver.received.flatMap(({ body }) => (body.event === 'alert' ? body.id : []))),
    (ids) => ids.size >= 2,
  )
  expect(arrived.size).toBe(2)
}, 180_000)
