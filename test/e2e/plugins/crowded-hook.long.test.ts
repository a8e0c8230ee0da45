import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type ShownPlugin, untilReady } from '../../support/plugins.ts'
import { RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil()
  const path = join(import.meta.dirname, 'fixtures', 'deciding.ts')
  service = await startService({
    rpcUrls: [anvil.url],
    plugins: [
      {
        id: 'guard',
        path,
        timeout: 10,
        mount: '/guard',
        open_mount: true,
        hooks: { before_send: { timeout: 5 } },
      },
    ],
  })
  await untilReady(service)
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await anvil?.stop()
})

test('callers of an open path, however many, do not keep the service from asking before_send', async () => {
  const calls = Array.from({ length: 140 }, () =>
    fetch(`${service.url}/guard/hang`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    }).then(({ status }) => status),
  )
  await until(
    async () =>
      (await service.api<{ state: ShownPlugin['state'] & { queued: number } }>('GET', '/plugins/guard')).body
        .data,
    // Callers without a key have half of the calls that a plugin runs.
    ({ state }) => state.running === 64 && state.queued > 0,
  )
  const { status } = await service.api('POST', '/relayers/main/transactions', {
    to: RECEIVER,
    value: '1',
    speed: 'fast',
  })
  expect(status).toBe(200)
  const answers = await Promise.all(calls)
  expect(answers.filter((one) => one !== 503 && one !== 504)).toEqual([])
})
