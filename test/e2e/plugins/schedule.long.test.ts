import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const PATH = join(import.meta.dirname, 'fixtures', 'telling.ts')
const HOUR_MS = 3_600_000

interface Run {
  readonly name: string
  readonly scheduled_at: string
  readonly missed: number
  readonly last_at: string
}

let receiver: Receiver
let service: Service | undefined
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await service?.stop()
  await receiver.stop()
})

/** Starts a service whose clock is ahead of that of its database, by which a schedule begins. */
async function start(schedule: object[], aheadMs = 0): Promise<Service> {
  service = await startService({
    rpcUrls: [],
    relayers: [],
    signers: [],
    plugins: [{ id: 'clerk', path: PATH, config: { url: receiver.url }, hooks: { schedule } }],
    clock: {
      now: () => Date.now() + aheadMs,
      monotonic: () => performance.now(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    },
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  })
  return service
}

const runs = () => receiver.received.map(({ body }) => body as unknown as Run)
const counted = async () => (await fetch(`${service?.metricsUrl}`)).text()

test('a schedule calls the plugin at its times', async () => {
  await start([{ name: 'every-second', cron: '* * * * * *' }])
  await receiver.arrived(3)
  const times = runs().map(({ scheduled_at }) => Date.parse(scheduled_at))
  expect(new Set(times).size).toBe(times.length)
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  for (const run of runs()) {
    expect(run).toMatchObject({ name: 'every-second', scheduled_at: expect.stringMatching(/\.000Z$/) })
    expect(Date.parse(run.last_at)).toBeLessThan(Date.parse(run.scheduled_at))
  }
  expect(await counted()).toMatch(
    /plugin_schedule_runs_total\{plugin_id="clerk",schedule="every-second",result="succeeded"\} [1-9]/,
  )
})

test('a schedule that missed times runs once, and tells how many they were', async () => {
  const { api } = await start(
    [
      { name: 'hourly', cron: '0 * * * *' },
      { name: 'marker', cron: '* * * * * *' },
    ],
    5 * HOUR_MS,
  )
  await until(
    async () => runs().filter(({ name }) => name === 'marker'),
    (seen) => seen.length >= 3,
  )
  const hourly = runs().filter(({ name }) => name === 'hourly')
  expect(hourly).toHaveLength(1)
  expect(hourly[0]?.missed).toBe(4)
  const { body } = await api<Schemas['Plugin']>('GET', '/plugins/clerk')
  const next = Date.parse(hourly[0]?.scheduled_at ?? '') + HOUR_MS
  expect(body.data.hooks?.schedule?.[0]).toEqual({
    name: 'hourly',
    cron: '0 * * * *',
    timezone: 'UTC',
    timeout: 300,
    next_at: new Date(next).toISOString(),
  })
  expect(await counted()).toContain(
    'plugin_schedule_runs_total{plugin_id="clerk",schedule="hourly",result="missed"} 4',
  )
})

test('a run that fails is not repeated', async () => {
  receiver.behave(({ body }) => ((body as unknown as Run).name === 'hourly' ? 500 : 204))
  await start(
    [
      { name: 'hourly', cron: '0 * * * *' },
      { name: 'marker', cron: '* * * * * *' },
    ],
    HOUR_MS,
  )
  await until(
    async () => runs().filter(({ name }) => name === 'marker'),
    (seen) => seen.length >= 3,
  )
  expect(runs().filter(({ name }) => name === 'hourly')).toHaveLength(1)
  expect(await counted()).toContain(
    'plugin_schedule_runs_total{plugin_id="clerk",schedule="hourly",result="failed"} 1',
  )
})
