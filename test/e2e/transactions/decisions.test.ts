import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { openStream } from '../../support/event-stream.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

type Transaction = Schemas['TransactionWithAttempts']

const HASH = `0x${'ab'.repeat(32)}`
const LATER = new Date(Date.now() + 3_600_000).toISOString()

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

const pause = (paused: boolean) => story.service.api('PATCH', '/relayers/main', { paused })

/** A transaction that is pending, as a restored database has those that were signed after the backup. */
const waiting = () => story.send({ to: RECEIVER, value: 5, speed: 'fast', valid_from: LATER })

const decide = (id: string, body: object) =>
  story.service.api<Transaction>('POST', `/relayers/main/transactions/${id}/decision`, body)

const decideMany = (decisions: readonly object[]) =>
  story.service.api<Schemas['TransactionDecisions']>('POST', '/relayers/main/transactions/decisions', {
    decisions,
  })

test('a pending transaction of a paused relayer that was included elsewhere is confirmed with its hash, and everyone is told', async () => {
  const { id } = await waiting()
  const stream = await openStream(story.service.url)
  await stream.next()
  await pause(true)
  const { status, body } = await decide(id, { included: true, hash: HASH, reason: 'Paid after the backup.' })
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    status: 'confirmed',
    hash: HASH,
    attempts: [],
    status_reason:
      'It was included: operator root decided this (Paid after the backup.); no endpoint can prove it.',
  })
  expect(body.data.confirmed_at).toBeDefined()
  expect(body.data).not.toHaveProperty('nonce')
  const { data = '' } = (await stream.next()) ?? {}
  expect(JSON.parse(data)).toMatchObject({
    type: 'transaction_update',
    payload: { id, status: 'confirmed', hash: HASH },
  })
  await stream.close()
  const found = await story.service.api<Transaction[]>('GET', `/transactions?hash=${HASH}`)
  expect(found.body.data.map((one) => one.id)).toEqual([id])
  const receipt = await story.service.api('GET', `/relayers/main/transactions/${id}/receipt`)
  expect(receipt).toMatchObject({ status: 400, body: { code: 'transaction_not_included' } })
  const audit = await story.service.api<Schemas['AuditEntry'][]>('GET', '/audit?action=decideTransaction')
  expect(audit.body.data[0]).toMatchObject({
    target_id: id,
    after: { included: true, hash: HASH, reason: 'Paid after the backup.' },
  })
  expect((await decide(id, { included: false, reason: 'x' })).body.code).toBe('transaction_not_undecided')
  await pause(false)
})

test('a pending transaction of a relayer that signs is refused, and one that was not included stays as it is', async () => {
  const { id } = await waiting()
  const refused = await decide(id, { included: true, reason: 'x' })
  expect(refused).toMatchObject({ status: 400, body: { code: 'transaction_not_undecided' } })
  expect(refused.body.error).toContain('Pause the relayer first')
  await pause(true)
  expect((await decide(id, { included: false, reason: 'Not in the explorer.' })).body.data.status).toBe(
    'pending',
  )
  await pause(false)
  await story.cancel(id)
})

test('a list is decided one by one: what is refused stops no other, and names the reason', async () => {
  const [one, other] = [await waiting(), await waiting()]
  await pause(true)
  const { status, body } = await decideMany([
    { transaction_id: one.id, included: true, reason: 'seen' },
    { transaction_id: 'unknown', included: true, reason: 'seen' },
    { transaction_id: other.id, included: false, hash: HASH, reason: 'seen' },
    { transaction_id: other.id, included: true, attempt: 7, reason: 'seen' },
    { transaction_id: other.id, included: true, hash: HASH, reason: 'seen' },
  ])
  expect(status).toBe(200)
  expect(body.data.decided_transaction_ids).toEqual([one.id, other.id])
  expect(body.data.failures.map(({ transaction_id, code }) => [transaction_id, code])).toEqual([
    ['unknown', 'transaction_not_found'],
    [other.id, 'invalid_request'],
    [other.id, 'invalid_request'],
  ])
  expect(body.data.failures[1]?.error).toContain('body.decisions[2].hash')
  expect(body.data.failures[2]?.error).toContain('body.decisions[3].attempt')
  const read = await story.get(one.id)
  expect(read).toMatchObject({ status: 'confirmed' })
  expect(read).not.toHaveProperty('hash')
  await pause(false)
})

test.each([
  [{ included: true, hash: 'a'.repeat(64), reason: 'x' }, 'body.hash'],
  [{ included: true, hash: HASH, attempt: 1, reason: 'x' }, 'body.hash'],
  [{ included: false, attempt: 1, reason: 'x' }, 'body.attempt'],
  [{ included: true, hash: '0x12', reason: 'x' }, 'body.hash'],
  [{ included: true, reason: '' }, 'body.reason'],
])('%o is 400, and names %s', async (body, field) => {
  const { id } = await waiting()
  const answer = await decide(id, body)
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
  expect(answer.body.error).toContain(field)
  await story.cancel(id)
})
