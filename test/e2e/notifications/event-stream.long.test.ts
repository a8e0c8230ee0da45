import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadContract } from '../../../src/contract/document.ts'
import { parseJson } from '../../../src/contract/exact-integers.ts'
import { createSchemaCompiler } from '../../../src/contract/schemas.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { openStream } from '../../support/event-stream.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const clock = createAdjustableClock()
const isEvent = createSchemaCompiler(await loadContract(), { normalise: false }).compile({
  $ref: '#/components/schemas/Event',
})

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ clock })
}, 60_000)
afterAll(() => story.stop())

const statusOf = (data: string | undefined) =>
  (JSON.parse(data ?? '{}') as { payload: { status: string } }).payload.status

test('an event is seen as it happens, as the contract says, and silence is filled', async () => {
  const stream = await openStream(story.service.url)
  expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(await stream.next()).toMatchObject({ comment: 'open', id: expect.stringMatching(/^\d+$/) })
  const { id } = await story.send({ to: RECEIVER, value: 1, speed: 'fast' })
  const frames = [await stream.next(), await stream.next(), await stream.next()]
  expect(frames.map((frame) => statusOf(frame?.data))).toEqual(['pending', 'sent', 'submitted'])
  for (const frame of frames) {
    expect(frame?.event).toBe('transaction_update')
    expect(isEvent(parseJson(frame?.data ?? ''))).toBe(true)
    expect(frame?.data).toContain(`"number":"${frame?.id}"`)
    expect(frame?.data).toContain(id)
  }
  clock.advance(15_000)
  expect(await stream.next()).toEqual({ comment: 'still here' })
  await stream.close()
})

test('a reader that comes back with Last-Event-ID misses nothing and sees nothing twice', async () => {
  const all = await (await openStream(story.service.url, { query: '?after=0&duration=0' })).rest()
  expect(all.length).toBeGreaterThanOrEqual(3)
  const rest = await openStream(story.service.url, {
    // What the reader has received counts, not where it once began.
    query: '?after=0&duration=0',
    headers: { 'last-event-id': all[0]?.id ?? '' },
  })
  expect(await rest.rest()).toEqual(all.slice(1))
  const later = await openStream(story.service.url, { query: `?after=${all.at(-1)?.id}&duration=0` })
  expect(await later.rest()).toEqual([])
})

test('the log can be read for one transaction alone', async () => {
  const [one, other] = [
    await story.send({ to: RECEIVER, value: 2, speed: 'fast' }),
    await story.send({ to: RECEIVER, value: 3, speed: 'fast' }),
  ]
  await story.reach(other.id, 'submitted')
  const ofOne = async (query: string) => {
    type Entry = { readonly transaction_id: string; readonly payload: { readonly status: string } }
    const { body } = await story.service.api<readonly Entry[]>('GET', `/events?transaction_id=${query}`)
    return body.data.map(({ transaction_id, payload }) => [transaction_id, payload.status])
  }
  await story.reach(one.id, 'submitted')
  expect(await ofOne(one.id)).toEqual(['pending', 'sent', 'submitted'].map((status) => [one.id, status]))
  expect(await ofOne(`${one.id}&relayer_id=other`)).toEqual([])
  expect(await ofOne('no-such-transaction')).toEqual([])
})

test('a reader that loses the connection before the first event comes back with the id of the beginning', async () => {
  const stream = await openStream(story.service.url)
  const beginning = await stream.next()
  await stream.close()
  const { id } = await story.send({ to: RECEIVER, value: 2, speed: 'fast' })
  await story.reach(id, 'submitted')
  const again = await openStream(story.service.url, {
    query: '?duration=0',
    headers: { 'last-event-id': beginning?.id ?? '' },
  })
  const frames = await again.rest()
  expect(frames.map(({ data }) => statusOf(data))).toEqual(['pending', 'sent', 'submitted'])
})

test('a stream has only what its filters select', async () => {
  const of = async (query: string) =>
    (await openStream(story.service.url, { query: `?after=0&duration=0&${query}` })).rest()
  expect(await of('relayer_id=other')).toEqual([])
  expect(await of('type=relayer_state_update')).toEqual([])
  expect((await of('relayer_id=main&type=TRANSACTION_UPDATE')).length).toBeGreaterThanOrEqual(3)
})

test('a stream with a duration ends', async () => {
  const stream = await openStream(story.service.url, { query: '?duration=60' })
  await stream.next()
  clock.advance(60_000)
  expect(await stream.rest()).toEqual([])
})

test.each([
  ['?after=x', {}, 'query.after'],
  ['?after=-1', {}, 'query.after'],
  ['?duration=-1', {}, 'query.duration'],
  ['', { 'last-event-id': '1.5' }, 'header.Last-Event-ID'],
])('%s %o is refused', async (query, headers, field) => {
  const response = await fetch(`${story.service.url}/api/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${'an-api-key-for-tests-that-is-long-enough'}`, ...headers },
  })
  expect(response.status).toBe(400)
  expect(((await response.json()) as { error: string }).error).toContain(field)
})

test('streams end when the service stops', async () => {
  const other = await startScenario()
  const stream = await openStream(other.service.url)
  await stream.next()
  const [frames] = await Promise.all([stream.rest(), other.stop()])
  expect(frames).toEqual([])
}, 60_000)

test('one stream too many is 429, until another one is closed', async () => {
  const service = await startService({ rpcUrls: [], relayers: [], env: { RELAYER_MAX_STREAMS: '1' } })
  const first = await openStream(service.url)
  await first.next()
  const refused = await service.api('GET', '/events/stream')
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(refused.headers.get('retry-after')).toBe('5')
  await first.close()
  const next = await until(
    () => openStream(service.url),
    ({ status }) => status === 200,
  )
  expect(await next.next()).toMatchObject({ comment: 'open' })
  await next.close()
  await service.stop()
}, 60_000)
