import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deleteNotification, saveNotification } from '../../../src/notifications/store.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { ACTOR } from '../../support/samples.ts'
import { openFixture, startWorker } from '../fixture.ts'

async function receiver(): Promise<Receiver> {
  const started = await startReceiver()
  onTestFinished(started.stop)
  return started
}

const delivered = (items: readonly { delivery: { status: string } }[]) =>
  items.length > 0 && items.every(({ delivery }) => delivery.status === 'delivered')

const numbersOf = ({ received }: Receiver) => received.map(({ body }) => Number(body.payload.status))

describe('a receiver that fails for everything', () => {
  test('gets single requests until one succeeds, and nothing is lost or written meanwhile', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    target.behave(() => 503)
    for (let index = 0; index < 60; index += 1) await fixture.emit('ops', `t${index}`)
    const tried = async () => (await fixture.deliveries('ops')).filter(({ delivery }) => delivery.tries > 0)
    await target.arrived(16)
    await fixture.settled('ops', (items) => items.filter(({ delivery }) => delivery.tries > 0).length === 16)
    // The times of their next tries have come, but the receiver rests as a whole.
    await sql`update deliveries set next_try_at = now()`.execute(fixture.database.db)
    await fixture.emit('ops', 'last')
    await fixture.settled('ops', (items) => items.length === 61)
    expect(target.received).toHaveLength(16)
    const { rows } = await sql<object>`select count(*) as count from deliveries`.execute(fixture.database.db)
    expect(rows).toEqual([{ count: 16n }])
    fixture.clock.advance(60_000)
    await target.arrived(17)
    await fixture.settled('ops', (items) => items.filter(({ delivery }) => delivery.tries > 0).length === 17)
    expect(await tried()).toHaveLength(17)
    target.behave(() => 204)
    fixture.clock.advance(60_000)
    await fixture.pass(60_000)
    await fixture.settled('ops', (items) => items.length === 61 && delivered(items))
  })

  test('has a request immediately when the delivery is repeated by hand', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    target.behave(() => 503)
    for (let index = 0; index < 17; index += 1) await fixture.emit('ops', `t${index}`)
    await fixture.settled('ops', (items) => items.filter(({ delivery }) => delivery.tries > 0).length === 16)
    target.behave(() => 204)
    await fixture.controls.redeliver('ops', { kind: 'range', from: 1n, to: 100n }, ACTOR)
    await fixture.settled('ops', (items) => items.length === 17 && delivered(items))
  })

  test('gives up what is older than a day without a try, and says why', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    target.behave(() => 503)
    for (let index = 0; index < 20; index += 1) await fixture.emit('ops', `t${index}`, 2)
    await fixture.settled('ops', (items) => items.filter(({ delivery }) => delivery.tries > 0).length === 16)
    await fixture.pass(25 * 3_600_000)
    const items = await fixture.settled(
      'ops',
      (all) => all.length === 40 && all.every(({ delivery }) => delivery.status === 'dead'),
    )
    const never = items.filter(({ delivery }) => delivery.tries === 0)
    expect(never.length).toBeGreaterThan(20)
    expect(never[0]?.delivery.lastTry).toEqual({
      error: 'The receiver failed for the whole retry period; this event was not sent.',
    })
    target.behave(() => 204)
    // The database still has the time of the machine, and says until when they are tried.
    fixture.clock.step(-25 * 3_600_000)
    await fixture.controls.redeliver('ops', { kind: 'dead' }, ACTOR)
    await fixture.settled('ops', (all) => all.length === 40 && delivered(all))
  })
})

test('one delivery that always fails stops no other', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  target.behave(({ body }) => (body.payload.id === 'poison' ? 500 : 204))
  await fixture.emit('ops', 'poison', 3)
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 20; index += 1) await fixture.emit('ops', `t${round}.${index}`)
    await fixture.pass(3_600_000)
  }
  const items = await fixture.settled(
    'ops',
    (all) => all.filter(({ delivery }) => delivery.status === 'delivered').length === 60,
  )
  expect(
    items.flatMap(({ event, delivery }) => (event.transactionId === 'poison' ? delivery.status : [])),
  ).toEqual(['waiting', 'waiting', 'pending'])
})

describe('the next owner of the lease', () => {
  test('delivers each undelivered event once, when results are recorded in another order than events', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    const held: (() => void)[] = []
    target.behave(({ body }) =>
      body.payload.id === 'slow' ? (response) => void held.push(() => response.destroy()) : 204,
    )
    await fixture.emit('ops', 'slow')
    await fixture.emit('ops', 't', 5)
    await fixture.settled(
      'ops',
      (items) => items.filter(({ delivery }) => delivery.status === 'delivered').length === 5,
    )
    const { rows } = await sql<object>`select event_number from delivery_cursors`.execute(fixture.database.db)
    expect(rows).toEqual([{ event_number: 0n }])
    // The process stalls: another one takes its lease while the first request still waits for an answer.
    await sql`update leases set expires_at = now() where name = 'relay'`.execute(fixture.database.db)
    const other = await startWorker(fixture.database, { clock: fixture.clock })
    onTestFinished(other.stop)
    target.behave(() => 204)
    await fixture.settled('ops', (items) => items.length === 6 && delivered(items))
    for (const reset of held) reset()
    expect(numbersOf(target)).toEqual([1, 2, 3, 4, 5, 6, 1])
    await fixture.emit('ops', 't')
    await fixture.settled('ops', (items) => items.length === 7 && delivered(items))
    expect(numbersOf(target)).toEqual([1, 2, 3, 4, 5, 6, 1, 7])
  })

  test('starts what a dead process left waiting behind a delivery that has ended', async () => {
    const target = await receiver()
    const fixture = await openFixture()
    await fixture.addNotification('ops', target.url)
    await fixture.emit('ops', 't', 2)
    await fixture.settled('ops', (items) => items.length === 2 && delivered(items))
    await fixture.stop()
    await sql`update deliveries set status = 'waiting' where event_number = 2`.execute(fixture.database.db)
    const other = await startWorker(fixture.database, { clock: fixture.clock })
    onTestFinished(other.stop)
    await target.arrived(3)
    await fixture.settled('ops', delivered)
    expect(numbersOf(target)).toEqual([1, 2, 2])
  })
})

test('a notification with the id of a deleted one gets none of its deliveries', async () => {
  const [former, target] = [await receiver(), await receiver()]
  const fixture = await openFixture()
  const { db } = fixture.database
  await fixture.addNotification('ops', former.url)
  const held: (() => void)[] = []
  former.behave(() => (response) => void held.push(() => response.writeHead(204).end()))
  await fixture.emit('ops', 't', 3)
  await former.arrived(1)
  // In one commit, so that no refresh comes in between.
  await db.transaction().execute(async (tx) => {
    await deleteNotification(tx, 'ops')
    await saveNotification(tx, { id: 'ops', type: 'webhook', url: target.url, hasSigningKey: false })
  })
  for (const answer of held) answer()
  await fixture.emit('ops', 'u')
  await fixture.settled('ops', delivered)
  expect(numbersOf(target)).toEqual([4])
  expect(former.received).toHaveLength(1)
  expect(await fixture.deliveries('ops')).toHaveLength(1)
})

test('the list has deliveries without a row, with the status that they have', async () => {
  const target = await receiver()
  const fixture = await openFixture()
  await fixture.addNotification('ops', target.url)
  await fixture.controls.pause('ops', ACTOR)
  await fixture.emit('ops', 't', 2)
  await fixture.emit('ops', 'u')
  const items = await fixture.settled('ops', (all) => all.length === 3)
  expect(items.map(({ delivery, event }) => [Number(event.number), delivery.status, delivery.tries])).toEqual(
    [
      [3, 'pending', 0],
      [2, 'waiting', 0],
      [1, 'pending', 0],
    ],
  )
  expect(new Set(items.map(({ delivery }) => delivery.id)).size).toBe(3)
  const countOf = async (status: 'pending' | 'waiting' | 'delivered') =>
    (await fixture.list('ops', status)).total
  expect([await countOf('pending'), await countOf('waiting'), await countOf('delivered')]).toEqual([2, 1, 0])
  await fixture.controls.resume('ops', ACTOR)
  const after = await fixture.settled('ops', delivered)
  expect(after.map(({ delivery }) => delivery.id)).toEqual(items.map(({ delivery }) => delivery.id))
})
