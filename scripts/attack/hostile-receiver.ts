import { setTimeout as pause } from 'node:timers/promises'
import type { Schemas } from '../../src/contract/operations.ts'
import { type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { type Service, startService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'
import { type HitCounter, startHitCounter, watchHealth } from './watch.ts'
import { type HostileReceivers, startReceivers } from './webhooks/start-receivers.ts'

/** Answers webhooks with floods, drips, resets and silence, and measures how soon an honest receiver gets its events. */
export const hostileReceiver: Attack = { name: 'hostile-receiver', run }

type Delivery = Schemas['Delivery']

/** Events of each hostile receiver. */
const EVENTS = 4

/** Events of the honest receiver, one after the other, and the time in which each has to arrive, in ms. */
const HONEST_EVENTS = 20
const HONEST_WITHIN_MS = 5_000
const HONEST_EVERY_MS = 200

/** The answers of all floods together may stay in memory for a while, but not more of them than this, in bytes. */
const MOST_MEMORY = 512 * 1_048_576

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const target = await startHitCounter()
  const honest = await startReceiver()
  const hostile = await startReceivers(`http://127.0.0.1:${target.port}/`)
  const service = await startService({
    rpcUrls: ['http://127.0.0.1:9'],
    notificationUrl: honest.url,
    env: { RELAYER_ALLOW_PRIVATE_URLS: 'true', RELAYER_WEBHOOK_TIMEOUT_SECONDS: '3' },
  })
  try {
    const before = process.memoryUsage().rss
    const watch = watchHealth(tally, service.url)
    const ids = await subscribe(service, hostile)
    const order = ids.flatMap((id) => Array<string>(EVENTS).fill(id)).sort(() => random.next() - 0.5)
    await Promise.all([sendEvents(tally, service, order), serveHonest(tally, service, honest)])
    await watch.stop()
    for (const id of ids) await checkTried(tally, service, id)
    await checkEnd(tally, { hostile, target, grown: process.memoryUsage().rss - before })
  } finally {
    await service.stop()
    await Promise.all([hostile, honest, target].map((each) => each.stop()))
  }
  return tally.report()
}

async function subscribe(service: Service, { receivers }: HostileReceivers): Promise<string[]> {
  const answers = receivers.map(({ url }) => service.api<{ id: string }>('POST', '/notifications', { url }))
  return (await Promise.all(answers)).map(({ body }) => body.data.id)
}

/** One after the other: all at once would measure the database. */
async function sendEvents(tally: Tally, service: Service, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { status } = await service.api('POST', `/notifications/${id}/test`)
    tally.check(status === 200, () => `a test event was answered ${status}`)
  }
}

async function serveHonest(tally: Tally, service: Service, honest: Receiver): Promise<void> {
  let slowest = 0
  for (let count = 1; count <= HONEST_EVENTS; count += 1) {
    const started = performance.now()
    await service.api('POST', '/notifications/ops/test')
    const arrived = await honest.arrived(count, HONEST_WITHIN_MS).then(
      () => true,
      () => false,
    )
    slowest = Math.max(slowest, performance.now() - started)
    tally.check(arrived, () => `event ${count} of the honest receiver took more than ${HONEST_WITHIN_MS} ms`)
    if (!arrived) return
    await pause(HONEST_EVERY_MS)
  }
  tally.note(`the honest receiver waited for at most ${Math.round(slowest)} ms`)
}

/** Waits until a try of the receiver has ended: what never ends would keep its slot for ever. */
async function checkTried(tally: Tally, service: Service, id: string): Promise<void> {
  const look = () => service.api<Delivery[]>('GET', `/notifications/${id}/deliveries`)
  const isTried = ({ body }: { body: { data: Delivery[] } }) => body.data.some(({ tries }) => tries > 0)
  const ended = await until(look, isTried).then(
    () => true,
    () => false,
  )
  tally.check(ended, () => `no try of ${id} has ended`)
}

interface End {
  readonly hostile: HostileReceivers
  readonly target: HitCounter
  readonly grown: number
}

async function checkEnd(tally: Tally, { hostile, target, grown }: End): Promise<void> {
  const counts = await hostile.connections()
  for (const [index, { name }] of hostile.receivers.entries())
    tally.check((counts[index] ?? 0) > 0, () => `the receiver with ${name} was never asked`)
  tally.check(target.hits() === 0, () => `${target.hits()} redirects were followed`)
  tally.check(grown < MOST_MEMORY, () => `the memory has grown by ${grown} bytes`)
  tally.note(`the memory has grown by ${Math.round(grown / 1_048_576)} MiB`)
}
