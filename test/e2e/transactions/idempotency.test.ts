import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueLimited } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
})
afterAll(() => story.stop())

/** A name for a request that no other test uses. */
const newKey = () => crypto.randomUUID()

const send = (key: string, body: object | string, relayer = 'main') =>
  story.service.api('POST', `/relayers/${relayer}/transactions`, body, { 'Idempotency-Key': key })

const count = async () =>
  (await story.service.api('GET', '/relayers/main/transactions?per_page=0')).body.pagination?.total_items ?? 0

describe('Idempotency-Key', () => {
  test('the same key and body give the same transaction, as it is now, and only one is executed', async () => {
    const [key, body] = [newKey(), { to: RECEIVER, value: 1 }]
    const before = await count()
    const first = await send(key, body)
    expect(first.body.data).toMatchObject({ status: 'pending', attempts: [] })
    const { id } = first.body.data
    await story.reach(id, 'submitted')
    const second = await send(key, body)
    expect(second.status).toBe(200)
    expect(second.body.data).toEqual(await story.get(id))
    expect(second.body.metadata?.logs[0]?.message).toContain('Idempotency-Key')
    await story.settle()
    expect((await send(key, body)).body.data).toMatchObject({ id, status: 'confirmed' })
    expect(await count()).toBe(before + 1)
  })

  test('the same key of another API key is another name: neither finds nor takes what the other has sent', async () => {
    const [key, body] = [newKey(), { to: RECEIVER, value: 1 }]
    const stranger = await issueLimited(story.service, { limits: [] })
    const headers = { 'Idempotency-Key': key }
    const theirs = await stranger.send({ to: RECEIVER, value: 2 }, headers)
    const mine = await send(key, body)
    expect([theirs.status, mine.status]).toEqual([200, 200])
    expect(mine.body.data.id).not.toBe(theirs.body.data.id)
    expect((await send(key, body)).body.data.id).toBe(mine.body.data.id)
    expect((await stranger.send({ to: RECEIVER, value: 2 }, headers)).body.data.id).toBe(theirs.body.data.id)
    const batch = { transactions: [{ ...body, idempotency_key: key }] }
    const again = await story.service.api<{ id: string }[]>(
      'POST',
      '/relayers/main/transactions/batch',
      batch,
    )
    expect(again.body.data).toMatchObject([{ id: mine.body.data.id }])
    const found = `/transactions?relayer_id=main&idempotency_key=${key}`
    expect((await stranger.call<{ id: string }[]>('GET', found)).body.data).toMatchObject([
      { id: theirs.body.data.id },
    ])
    // The key of the environment is the operator's.
    const all = await story.service.api<{ id: string }[]>('GET', found)
    expect(all.body.data.map(({ id }) => id).sort()).toEqual([mine.body.data.id, theirs.body.data.id].sort())
  })

  test.each([
    [
      'another order of fields',
      '{"value":5,"to":"TO","speed":"fast"}',
      '{"speed":"fast","to":"TO","value":5}',
    ],
    ['another spelling of an amount', '{"to":"TO","value":5}', '{"to":"TO","value":"5"}'],
    ['other spaces', '{"to":"TO","value":5}', ' { "to" : "TO" , "value" : 5 } '],
  ])('%s is the same body', async (_name, one, other) => {
    const key = newKey()
    const [first, second] = [one, other].map((text) => text.replace('TO', RECEIVER))
    const { id } = (await send(key, first ?? '')).body.data
    const again = await send(key, second ?? '')
    expect({ status: again.status, id: again.body.data.id }).toEqual({ status: 200, id })
  })

  test.each([
    ['an amount that differs in its last digit', '9007199254740993', '9007199254740992'],
    ['a further field', '1', '1,"speed":"fast"'],
  ])('%s makes another body: 409, and nothing is stored', async (_name, one, other) => {
    const key = newKey()
    const body = (value: string) => `{"to":"${RECEIVER}","value":${value}}`
    const { id } = (await send(key, body(one))).body.data
    const before = await count()
    const { status, body: failure } = await send(key, body(other))
    expect({ status, failure }).toEqual({
      status: 409,
      failure: {
        success: false,
        data: null,
        message: 'Conflict',
        error: expect.stringContaining(id),
        code: 'idempotency_key_reused',
      },
    })
    expect(await count()).toBe(before)
  })

  test('many at the same instant make one transaction', async () => {
    const [key, body] = [newKey(), { to: RECEIVER, value: 3 }]
    const before = await count()
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(key, body)))
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1)
    expect(await count()).toBe(before + 1)
  })

  test('of several bodies at the same time one is accepted, and the others get an error', async () => {
    const key = newKey()
    const before = await count()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => send(key, { to: RECEIVER, value: index % 3 })),
    )
    const winners = new Set(answers.flatMap(({ status, body }) => (status === 200 ? [body.data.id] : [])))
    expect(winners.size).toBe(1)
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(4).fill(200), ...Array(8).fill(409)])
    expect(await count()).toBe(before + 1)
  })

  test('a refused request leaves its key free', async () => {
    const key = newKey()
    expect((await send(key, { to: RECEIVER, value: String(10n ** 30n) })).body.code).toBe(
      'insufficient_balance',
    )
    expect((await send(key, { value: 0, data: '0x60006000fd' })).body.code).toBe('execution_reverted')
    const { status, body } = await send(key, { to: RECEIVER, value: 1 })
    expect({ status, data: body.data.status }).toEqual({ status: 200, data: 'pending' })
  })

  test('who has spent the money since gets the transaction, not a refusal', async () => {
    await story.settle()
    const [key, body] = [newKey(), { to: DEV_ADDRESSES[1], value: String(6n * 10n ** 21n) }]
    const { id } = (await send(key, body)).body.data
    await story.settle()
    await story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], '0x1'])
    expect((await story.service.api('POST', '/relayers/main/transactions', body)).status).toBe(400)
    expect((await send(key, body)).body.data).toMatchObject({ id, status: 'confirmed' })
    await story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], `0x${(10n ** 22n).toString(16)}`])
  })

  test('a key belongs to one relayer', async () => {
    const key = newKey()
    const one = await send(key, { to: RECEIVER, value: 1 })
    const other = await send(key, { to: RECEIVER, value: 2 }, 'other')
    expect([one.status, other.status]).toEqual([200, 200])
    expect(other.body.data.id).not.toBe(one.body.data.id)
  })

  test('valid_until may have passed since', async () => {
    const [key, body] = [
      newKey(),
      { to: RECEIVER, value: 1, valid_until: new Date(Date.now() + 2_000).toISOString() },
    ]
    const { id } = (await send(key, body)).body.data
    await story.settle()
    const over = Date.parse(body.valid_until) + 10
    while (Date.now() < over) await story.mine()
    expect((await send(key, body)).body.data.id).toBe(id)
  })

  test.each([
    ['empty', ''],
    ['a space within', 'a b'],
    ['letters beyond ASCII', 'schl\u00fcssel'],
    ['256 characters', 'x'.repeat(256)],
  ])('%s is no key: 400 that names the header', async (_name, key) => {
    const { status, body } = await send(key, { to: RECEIVER, value: 1 })
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
    expect(body.error).toContain('header.Idempotency-Key')
  })

  test.each(['x', '"quoted"', '~!@#$%^&*()', 'x'.repeat(255)])('%s is one', async (key) => {
    expect((await send(key, { to: RECEIVER, value: 1 })).status).toBe(200)
  })
})
