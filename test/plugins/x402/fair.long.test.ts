import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFairQueue } from '../../../plugins/shared/fair.ts'
import { Crowded } from '../../../plugins/shared/host.ts'
import { API_KEY } from '../../support/service.ts'
import { paymentBy } from './evm-payment.ts'
import { NETWORK, startEvmSite } from './evm-site.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'

describe('the queue of a plugin', () => {
  test('lets callers take turns, although one of them comes first with many requests', async () => {
    const queue = createFairQueue({ running: 1 })
    const order: string[] = []
    const work = (name: string) => async () => {
      order.push(name)
      await sleep(1)
    }
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) =>
      queue.run({ key: name.slice(0, 1) }, work(name)),
    )
    await Promise.all(all)
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  test('gives all callers without a key one share, which their addresses divide', async () => {
    const queue = createFairQueue({ running: 1 })
    const order: string[] = []
    const run = (key: string, address: string | undefined, name: string) =>
      queue.run({ key, address }, async () => {
        order.push(name)
        await sleep(1)
      })
    const strangers = ['s', 't', 'u'].flatMap((address) =>
      [1, 2].map((count) => run('', address, `${address}${count}`)),
    )
    await Promise.all([...strangers, ...[1, 2, 3].map((count) => run('shop', undefined, `shop${count}`))])
    expect(order).toEqual(['s1', 's2', 'shop1', 't1', 'shop2', 'u1', 'shop3', 't2', 'u2'])
  })

  test('refuses what one caller asks beyond his share, and goes on after a failure', async () => {
    const queue = createFairQueue({ running: 1, waiting: 2 })
    const fails = queue.run({ key: 'a' }, () => Promise.reject(new Error('broken')))
    const waiting = [1, 2].map((value) => queue.run({ key: 'a' }, async () => value))
    await expect(queue.run({ key: 'a' }, async () => 3)).rejects.toBeInstanceOf(Crowded)
    const other = queue.run({ key: 'b' }, async () => 'served')
    await expect(fails).rejects.toThrow('broken')
    expect(await Promise.all([...waiting, other])).toEqual([1, 2, 'served'])
  })
})

test('a stranger at an open path does not keep a shop with a key from its answers', async () => {
  const entry = pluginEntry([{ network: NETWORK, relayer_id: 'main' }], { open_mount: true })
  // The rates of a service without settings.
  const env = { RATE_LIMIT_REQUESTS_PER_SECOND: '100', RATE_LIMIT_BURST_SIZE: '300' }
  const site = await startEvmSite({ plugins: [entry], env })
  onTestFinished(site.stop)
  await untilReady(site.service)
  const payer = await site.payer()
  const body = JSON.stringify(await paymentBy(payer, site))
  const verify = async (headers: Record<string, string> = {}) => {
    const response = await fetch(`${site.service.url}/x402/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    return { status: response.status, answer: (await response.json()) as { isValid?: boolean } }
  }
  let isFlooding = true
  const waits: number[] = []
  // More at once than the plugin runs.
  const flood = Array.from({ length: 150 }, async () => {
    while (isFlooding) {
      const startedAt = performance.now()
      await verify().catch(() => undefined)
      waits.push(performance.now() - startedAt)
      await sleep(400)
    }
  })
  // The burst of the plugin's key is used up first.
  await sleep(4_000)
  const durations: number[] = []
  for (let count = 0; count < 8; count += 1) {
    const startedAt = performance.now()
    const { status, answer } = await verify({ authorization: `Bearer ${API_KEY}` })
    durations.push(performance.now() - startedAt)
    expect([status, answer.isValid]).toEqual([200, true])
  }
  isFlooding = false
  await Promise.all(flood)
  expect(waits.length).toBeGreaterThan(200)
  // In one queue for all, the shop would wait as long as the strangers do.
  const median = waits.toSorted((one, other) => one - other)[waits.length >> 1] ?? 0
  expect(Math.max(...durations)).toBeLessThan(median / 3)
}, 60_000)
