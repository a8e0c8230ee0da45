import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LEAST_TRIES } from '../../../src/notifications/delivery/try-delivery.ts'
import { type Behaviour, type Receiver, startReceiver } from '../../support/receiver.ts'
import { ACTOR } from '../../support/samples.ts'
import { openFixture } from '../fixture.ts'

const HOUR_MS = 3_600_000

async function receiver(): Promise<Receiver> {
  const started = await startReceiver()
  onTestFinished(started.stop)
  return started
}

const delivered = (items: readonly { delivery: { status: string } }[]) =>
  items.length > 0 && items.every(({ delivery }) => delivery.status === 'delivered')

/** The numbers of events of one transaction in the order of arrival. */
const orderOf = ({ received }: Receiver, transactionId: string) =>
  received
    .filter(({ body }) => body.payload.id === transactionId)
    .map(({ body }) => Number(body.payload.status))

describe('a receiver that fails once', () => {
  const drip: Behaviour = (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(timer))
  }
  const cases: [string, Behaviour, string][] = [
    ['answers 500', 500, 'The receiver answered with 500.'],
    [
      'answers with a redirect',
      (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      'The receiver answered with 302.',
    ],
    ['never answers', () => {}, 'The receiver did not answer: no complete answer within 500 ms.'],
    ['drips its answer', drip, 'The receiver did not answer: no complete answer within 500 ms.'],
    [
      'resets the connection',
      (response) => response.destroy(),
      'The receiver did not answer: socket hang up.',
    ],
  ]
  test.each(cases)('%s: is sent again', async (_what, behaviour, error) => {
    const target = await receiver()
    // A short limit is for those who exceed it: on a busy machine others would, too.
    const fixture = await openFixture({ timeoutMs: error.includes('within 500 ms') ? 500 : 10_000 })
    await fixture.addNotification('ops', target.url)
    target.behave(() => (target.received.length === 1 ? behaviour : 204))
    await fixture.emit('ops', 't')
    const [failed] = await fixture.settled('ops', (items) => items[0]?.delivery.tries === 1)
    expect(failed?.delivery).toMatchObject({ status: 'pending', lastTry: { error } })
    await fixture.pass(10_000)
    const [done] = await fixture.settled('ops', delivered)
    expect(done?.delivery).toMatchObject({ tries: 2, lastTry: { response: { code: 204 } } })
    const [first, second] = target.received
    expect(second?.text).toBe(first?.text)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  })
})

test('a huge answer is read up to a limit, and counts', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  target.behave(() => (response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(65_536, 'x')
    const push = () => {
      while (response.write(chunk));
      response.once('drain', push)
    }
    push()
  })
  await fixture.emit('ops', 't')
  const [done] = await fixture.settled('ops', delivered)
  expect(done?.delivery.lastTry).toMatchObject({ response: { body: 'x'.repeat(16_384) } })
})

test('an untrusted certificate is a failure', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relayer-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      '-days',
      '1',
      '-subj',
      '/CN=localhost',
    ],
    { stdio: 'pipe' },
  )
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
    response.end(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const fixture = await openFixture()
  await fixture.addNotification('ops', `https://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await fixture.emit('ops', 't')
  const [failed] = await fixture.settled('ops', (items) => items[0]?.delivery.tries === 1)
  expect(failed?.delivery.lastTry?.error).toMatch(/self-signed certificate/)
})

test('410 pauses the notification; what waits is sent when it goes on', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  target.behave(() => 410)
  await fixture.emit('ops', 't', 3)
  await fixture.settled('ops', (items) => items.some(({ delivery }) => delivery.status === 'dead'))
  expect(
    await fixture.database.db.selectFrom('notifications').select(['paused', 'paused_reason']).execute(),
  ).toEqual([{ paused: true, paused_reason: 'gone' }])
  await fixture.emit('ops', 'u')
  await fixture.pass(HOUR_MS)
  expect(target.received).toHaveLength(1)
  target.behave(() => 204)
  await fixture.controls.resume('ops', ACTOR)
  const items = await fixture.settled(
    'ops',
    (list) => list.filter(({ delivery }) => delivery.status === 'delivered').length === 3,
  )
  expect(items.map(({ delivery }) => delivery.status)).toEqual([
    'delivered',
    'delivered',
    'delivered',
    'dead',
  ])
})

test('429 with Retry-After: nothing is sent until then', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  target.behave(() => (response) => response.writeHead(429, { 'retry-after': '600' }).end())
  await fixture.emit('ops', 't')
  await fixture.settled('ops', (items) => items[0]?.delivery.tries === 1)
  target.behave(() => 204)
  await fixture.emit('ops', 'u')
  await fixture.settled('ops', (items) => items.length === 2)
  await fixture.pass(590_000)
  expect(target.received).toHaveLength(1)
  await fixture.pass(15_000)
  await fixture.settled('ops', delivered)
})

test('a receiver that is down for hours loses nothing, and gets the events of each transaction in order', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  await target.down()
  await fixture.emit('ops', 't', 4)
  await fixture.emit('ops', 'u', 3)
  await fixture.settled('ops', (items) => items.filter(({ delivery }) => delivery.tries === 1).length === 2)
  for (let hour = 0; hour < 20; hour += 1) {
    await fixture.pass(HOUR_MS)
    await fixture.settled(
      'ops',
      (items) => items.filter(({ delivery }) => delivery.tries === hour + 2).length === 2,
    )
  }
  expect((await fixture.deliveries('ops')).map(({ delivery }) => delivery.status)).not.toContain('dead')
  await target.up()
  await fixture.pass(HOUR_MS)
  await fixture.settled('ops', delivered)
  expect(orderOf(target, 't')).toEqual([1, 2, 3, 4])
  expect(orderOf(target, 'u')).toEqual([5, 6, 7])
})

test('a dead letter, given up after a day, is delivered again on demand', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  target.behave(() => 503)
  await fixture.emit('ops', 't', 2)
  await fixture.settled('ops', (items) => items.some(({ delivery }) => delivery.tries === 1))
  await fixture.pass(25 * HOUR_MS)
  const triesOf = (items: readonly { delivery: { tries: number } }[]) =>
    items.reduce((sum, { delivery }) => sum + delivery.tries, 0)
  // The day may be a step of the clock, so it ends nothing alone. The second one, which waited behind the first, has its chance as well.
  for (let tries = 2; tries <= 2 * LEAST_TRIES; tries += 1) {
    await fixture.settled('ops', (items) => triesOf(items) === tries)
    await fixture.pass(HOUR_MS)
  }
  const dead = await fixture.settled(
    'ops',
    (items) => items.length === 2 && items.every(({ delivery }) => delivery.status === 'dead'),
  )
  expect(dead.map(({ delivery }) => delivery.tries)).toEqual([LEAST_TRIES, LEAST_TRIES])
  target.behave(() => 204)
  expect(await fixture.controls.redeliver('ops', { kind: 'dead' }, ACTOR)).toEqual({
    redelivered: 2,
    remaining: 0,
  })
  await fixture.settled('ops', delivered)
  expect(orderOf(target, 't').slice(-2)).toEqual([1, 2])
})

test('a receiver that hangs delays no other', async () => {
  const slow = await receiver()
  const quick = await receiver()
  const fixture = await openFixture({ timeoutMs: 20_000 })
  await fixture.addNotification('slow', slow.url)
  await fixture.addNotification('quick', quick.url)
  const hanging: (() => void)[] = []
  slow.behave(() => (response) => void hanging.push(() => response.writeHead(204).end()))
  for (let index = 0; index < 40; index += 1) await fixture.emit('slow', `s${index}`)
  await slow.arrived(16)
  for (let index = 0; index < 40; index += 1) await fixture.emit('quick', `q${index}`)
  await fixture.settled('quick', (items) => items.length === 40 && delivered(items))
  expect(slow.received).toHaveLength(16)
  slow.behave(() => 204)
  for (const finish of hanging) finish()
  await fixture.settled('slow', (items) => items.length === 40 && delivered(items))
})

test('connections are used again', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  await fixture.emit('ops', 't', 10)
  await target.arrived(10)
  expect(new Set(target.received.map(({ connection }) => connection)).size).toBe(1)
})

describe('a clock of the database that was an hour ahead', () => {
  const ahead = sql`interval '1 hour'`

  test('does not delay the next try', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    target.behave(() => (target.received.length === 1 ? 500 : 204))
    await fixture.emit('ops', 't')
    await fixture.settled('ops', (items) => items[0]?.delivery.tries === 1)
    await sql`update deliveries set next_try_at = next_try_at + ${ahead}`.execute(fixture.database.db)
    fixture.clock.advance(30_000)
    await fixture.settled('ops', delivered)
  })

  test('does not delay what is delivered again', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    await fixture.emit('ops', 't')
    await fixture.settled('ops', delivered)
    await fixture.controls.pause('ops', ACTOR)
    await fixture.controls.redeliver('ops', { kind: 'range', from: 1n, to: 1n }, ACTOR)
    await sql`update deliveries set next_try_at = next_try_at + ${ahead}, tries = 0`.execute(
      fixture.database.db,
    )
    await fixture.controls.resume('ops', ACTOR)
    fixture.clock.advance(30_000)
    await target.arrived(2)
    await fixture.settled('ops', delivered)
  })

  test('leaves a wait alone that the receiver asked for', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    const busy: Behaviour = (response) => response.writeHead(503, { 'retry-after': '7200' }).end()
    target.behave(() => busy)
    await fixture.emit('ops', 't')
    const [failed] = await fixture.settled('ops', (items) => items[0]?.delivery.tries === 1)
    fixture.clock.advance(30_000)
    await fixture.emit('ops', 'u')
    const items = await fixture.settled('ops', (all) => all.length === 2)
    const same = items.find(({ delivery }) => delivery.id === failed?.delivery.id)
    expect(same?.delivery.nextTryAt).toEqual(failed?.delivery.nextTryAt)
  })
})
