import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let story: Scenario
beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

const SENDS = '/relayers/main/transactions'
const payment = (value: number) => ({ to: RECEIVER, value })

/** Makes a call, and tells whether it was answered before `event` was over. */
async function answeredBefore<T>(call: Promise<T>, event: Promise<unknown>): Promise<boolean> {
  return Promise.race([call.then(() => true), event.then(() => false)])
}

test('a send that waits for "submitted" is answered when the node has the transaction', async () => {
  const { status, body } = await story.service.api('POST', `${SENDS}?wait=submitted`, payment(1))
  expect([status, body.data.status]).toEqual([200, 'submitted'])
  expect(body.data.attempts).toHaveLength(1)
  await story.settle()
})

test('a send that waits for "mined" is answered after the block, and not before', async () => {
  const call = story.service.api('POST', `${SENDS}?wait=mined&timeout=20`, payment(2))
  const submitted = until(
    () => story.service.api<{ value: string; status: string }[]>('GET', `${SENDS}?per_page=1`),
    ({ body: { data } }) => data[0]?.value === '2' && data[0].status === 'submitted',
  )
  expect(await answeredBefore(call, submitted)).toBe(false)
  await story.mine()
  const { status, body } = await call
  expect([status, body.data.status]).toEqual([200, 'mined'])
  await story.settle()
})

test('when the time is up, the answer is 200 with the record as it is', async () => {
  const begun = performance.now()
  const { status, body } = await story.service.api('POST', `${SENDS}?wait=confirmed&timeout=1`, payment(3))
  expect([status, body.data.status]).toEqual([200, 'submitted'])
  expect(performance.now() - begun).toBeGreaterThan(900)
  await story.settle()
})

test('a wait with the key of an earlier request waits for its transaction', async () => {
  const headers = { 'idempotency-key': 'wait-again' }
  const first = await story.service.api('POST', SENDS, payment(4), headers)
  const again = story.service.api('POST', `${SENDS}?wait=confirmed&timeout=20`, payment(4), headers)
  await story.settle()
  const { body } = await again
  expect([body.data.id, body.data.status]).toEqual([first.body.data.id, 'confirmed'])
})

test('get, replace and cancel wait too', async () => {
  const { id } = await story.send(payment(5))
  const got = await story.service.api('GET', `${SENDS}/${id}?wait=submitted`)
  expect(got.body.data.status).toBe('submitted')
  const replaced = await story.service.api('PUT', `${SENDS}/${id}?wait=submitted`, {
    ...payment(6),
    speed: 'fastest',
  })
  expect([replaced.status, replaced.body.data.status]).toEqual([200, 'submitted'])
  const canceled = story.service.api('DELETE', `${SENDS}/${id}?wait=confirmed&timeout=20`)
  await until(
    () => story.get(id),
    ({ status, attempts }) => status === 'submitted' && attempts?.at(-1)?.kind === 'cancel',
  )
  await story.settle()
  const { status, body } = await canceled
  expect(body.error).toBeUndefined()
  expect([status, body.data.status]).toEqual([200, 'canceled'])
})

test('a hundred waits of one process end with their own transaction', async () => {
  const calls = Array.from({ length: 100 }, (_, index) =>
    story.service.api('POST', `${SENDS}?wait=confirmed&timeout=25`, payment(1_000 + index)),
  )
  const seen = Promise.all(calls).then((answers) =>
    answers.map(({ body: { data } }) => [data.status, data.value]),
  )
  while (!(await answeredBefore(seen, story.mine()))) {}
  expect(await seen).toEqual(calls.map((_, index) => ['confirmed', String(1_000 + index)]))
})

test.each([
  ['wait=done', 'query.wait: '],
  ['wait=mined&timeout=0', 'query.timeout: '],
  ['wait=mined&timeout=301', 'query.timeout: '],
])('%s is refused', async (query, error) => {
  const answer = await story.service.api('POST', `${SENDS}?${query}`, payment(7))
  expect(answer.status).toBe(400)
  expect(answer.body.error).toContain(error)
})

test('a wait is shorter than the time limit of a request', async () => {
  const service = await startService({ rpcUrls: [story.anvil.url], env: { REQUEST_TIMEOUT_SECONDS: '4' } })
  onTestFinished(() => service.stop())
  const { status, body } = await service.api('POST', `${SENDS}?wait=confirmed&timeout=300`, payment(8))
  expect([status, body.data.status]).toEqual([200, 'submitted'])
  await story.mine()
})

test('a service that stops answers what waits', async () => {
  const service = await startService({ rpcUrls: [story.anvil.url] })
  const { body } = await service.api('POST', SENDS, payment(9))
  const waiting = service.api('GET', `${SENDS}/${body.data.id}?wait=confirmed&timeout=300`)
  await service.api('GET', `${SENDS}/${body.data.id}?wait=submitted`)
  await service.stop()
  const answer = await waiting
  expect([answer.status, answer.body.data.status]).toEqual([200, 'submitted'])
})
