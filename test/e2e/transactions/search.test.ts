import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outcomeOf } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, type Transaction } from '../../support/service.ts'

let story: Scenario
/** Of relayer `main` and of relayer `other`, in the order of acceptance. */
let sent: Transaction[]
const KEY = 'invoice-1017'

beforeAll(async () => {
  story = await startScenario()
  sent = []
  for (const [index, relayer] of ['main', 'other', 'main', 'other', 'main'].entries())
    sent.push(await send(relayer, index === 0 ? { 'Idempotency-Key': KEY } : {}))
  await story.settle()
}, 60_000)
afterAll(() => story.stop())

async function send(relayer: string, headers: Record<string, string> = {}): Promise<Transaction> {
  const path = `/relayers/${relayer}/transactions`
  const { status, body } = await story.service.api('POST', path, { to: RECEIVER, value: 1 }, headers)
  expect(status).toBe(200)
  return body.data
}

interface Found {
  readonly data: readonly Transaction[]
  readonly pagination: { readonly next_cursor: string | null }
}

/** Searches with the root key, or with the call of another one. */
async function search(query: string, call: Scenario['service']['api'] = story.service.api): Promise<Found> {
  const answer = await call<Transaction[]>('GET', `/transactions${query}`)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  return answer.body as unknown as Found
}

const idsOf = ({ data }: Found) => data.map(({ id }) => id)
const newestFirst = () => sent.map(({ id }) => id).reverse()

describe('GET /transactions', () => {
  test('lists those of every relayer, newest first, as the lists of the relayers do', async () => {
    const { data, pagination } = await search('')
    expect(data.map(({ id }) => id)).toEqual(newestFirst())
    expect(pagination).toEqual({ next_cursor: null })
    const { body } = await story.service.api<Transaction[]>('GET', '/relayers/main/transactions')
    expect(data.filter(({ relayer_id }) => relayer_id === 'main')).toEqual(body.data)
  })

  test('is continued with its cursor while others are sent', async () => {
    const first = await search('?limit=2')
    const extra = await send('main')
    const second = await search(`?limit=2&cursor=${first.pagination.next_cursor}`)
    const third = await search(`?limit=2&cursor=${second.pagination.next_cursor}`)
    expect([first, second, third].flatMap(idsOf)).toEqual(newestFirst())
    expect(third.pagination.next_cursor).toBeNull()
    sent.push(extra)
    await story.settle()
  })

  test('finds a transaction by the hash of any attempt, in any letter case', async () => {
    const { id } = await send('main')
    const { hash: first = '' } = await story.reach(id, 'submitted')
    const replaced = await story.replace(id, { to: RECEIVER, value: 2, speed: 'fastest' })
    const { hash: second = '' } = replaced.body.data
    await story.settle()
    sent.push(await story.get(id))
    expect(first).not.toBe(second)
    for (const hash of [first, second, second.toUpperCase().replace('0X', '0x')])
      expect(idsOf(await search(`?hash=${hash}`))).toEqual([id])
    expect(idsOf(await search(`?hash=0x${'00'.repeat(32)}`))).toEqual([])
  })

  test('finds a transaction by its id alone', async () => {
    const { id = '' } = sent[1] ?? {}
    expect(await search(`?id=${id}`)).toMatchObject({
      data: [{ id, relayer_id: 'other' }],
      pagination: { next_cursor: null },
    })
    expect(idsOf(await search(`?id=${id}&relayer_id=main`))).toEqual([])
    expect(idsOf(await search('?id=no-such-transaction'))).toEqual([])
  })

  test('finds a transaction by its key and its relayer', async () => {
    expect(idsOf(await search(`?relayer_id=main&idempotency_key=${KEY}`))).toEqual([sent[0]?.id])
    expect(idsOf(await search(`?relayer_id=other&idempotency_key=${KEY}`))).toEqual([])
  })

  test.each([
    ['status=confirmed', true],
    ['status=FAILED', false],
    ['network_type=evm', true],
    ['network_type=solana', false],
    [`to=${RECEIVER.toLowerCase()}`, true],
    [`to=0x${'00'.repeat(20)}`, false],
    ['created_after=2020-01-01T00:00:00Z&created_before=2100-01-01T00:00:00Z', true],
    ['created_before=2020-01-01T00:00:00Z', false],
    ['relayer_id=nobody', false],
    ['asset=native', true],
    [`asset=native&to=${RECEIVER}&min_amount=1&max_amount=2`, true],
    [`asset=native&min_amount=${2n ** 256n - 1n}`, false],
    ['requested_by=root', true],
    ['requested_by=other', false],
    ['user_id=user-1', false],
    ['reference=invoice-1', false],
  ])('narrows the list by %s', async (query, fits) => {
    expect(idsOf(await search(`?${query}`))).toEqual(fits ? newestFirst() : [])
  })

  test.each([
    ['cursor=0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11', 'query.cursor: expected pagination.next_cursor'],
    ['cursor=%00', 'query.cursor: expected the next_cursor of an earlier answer'],
    ['idempotency_key=one', 'query.idempotency_key: expected together with relayer_id'],
    ['id=.x', 'query.id: '],
    ['hash=x', 'query.hash: '],
    ['to=0x1', 'query.to: expected an address'],
    ['min_amount=1', 'query.asset: is required with min_amount and max_amount'],
    ['asset=native&max_amount=1.5', 'query.max_amount: expected up to 78 decimal digits'],
    ['asset=USDC', 'query.asset: expected "native"'],
    ['reference=%C3%BC', 'query.reference: expected visible ASCII characters'],
    ['created_after=yesterday', 'query.created_after: '],
    ['limit=0', 'query.limit: '],
    ['page=1', 'query.page: there is no such query parameter here'],
  ])('refuses %s', async (query, sentence) => {
    const answer = await story.service.api('GET', `/transactions?${query}`)
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toContain(sentence)
  })
})

describe('a key for one relayer', () => {
  test('finds nothing of the others, and no cursor of theirs is one', async () => {
    const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Narrow',
      scopes: ['transactions:read'],
      relayers: ['other'],
    })
    const authorization = `Bearer ${body.data.secret}`
    const call: Scenario['service']['api'] = (method, path, content) =>
      story.service.api(method, path, content, { authorization })
    const ofOther = sent.filter(({ relayer_id }) => relayer_id === 'other')
    const ofMain = await story.get(sent[0]?.id ?? '')
    expect(idsOf(await search('', call))).toEqual(ofOther.map(({ id }) => id).reverse())
    const hidden = [
      `id=${ofMain.id}`,
      'relayer_id=main',
      `hash=${ofMain.hash}`,
      `relayer_id=main&idempotency_key=${KEY}`,
    ]
    for (const query of hidden) expect(idsOf(await search(`?${query}`, call))).toEqual([])
    const wrong = await call('GET', `/transactions?cursor=${ofMain.id}`)
    expect(outcomeOf(wrong)).toBe('400 invalid_request')
  })

  test('needs the scope', async () => {
    const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Writer',
      scopes: ['transactions:write'],
    })
    const headers = { authorization: `Bearer ${body.data.secret}` }
    const answer = await story.service.api('GET', '/transactions', undefined, headers)
    expect(outcomeOf(answer)).toBe('403 insufficient_scope')
  })
})

test('the transactions of a relayer that was deleted are found', async () => {
  await story.settle()
  expect((await story.service.api('DELETE', '/relayers/other')).status).toBe(200)
  expect(idsOf(await search('?relayer_id=other'))).toHaveLength(2)
})

test('a reference and a user are found, and the record, its event and an item of a batch show the reference', async () => {
  const body = { to: RECEIVER, value: 3, reference: 'invoice/7' }
  const path = '/relayers/main/transactions'
  const { body: sent } = await story.service.api<Transaction>('POST', path, body, { 'User-Id': 'user-7' })
  expect(sent.data).toMatchObject({ reference: 'invoice/7' })
  const batch = { transactions: [body, { to: RECEIVER, value: 4 }] }
  const { body: both } = await story.service.api<Transaction[]>('POST', `${path}/batch`, batch)
  await story.settle()
  expect(idsOf(await search('?reference=invoice%2F7'))).toEqual([both.data[0]?.id, sent.data.id])
  expect(idsOf(await search('?user_id=user-7'))).toEqual([sent.data.id])
  const { body: events } = await story.service.api<{ payload: Transaction }[]>(
    'GET',
    `/events?transaction_id=${sent.data.id}`,
  )
  expect(events.data.map(({ payload }) => payload)).toContainEqual(
    expect.objectContaining({ reference: 'invoice/7', status: 'confirmed' }),
  )
})

test('a replacement keeps the reference, and has none of its own', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 5, reference: 'kept' })
  await story.reach(id, 'submitted')
  const refused = await story.replace(id, { to: RECEIVER, value: 6, reference: 'kept' })
  expect(outcomeOf(refused)).toBe('400 invalid_request')
  expect(refused.body.error).toContain('body.reference: expected to be absent')
  await story.replace(id, { to: RECEIVER, value: 6, speed: 'fastest' })
  await story.settle()
  expect(await story.get(id)).toMatchObject({ reference: 'kept', value: '6' })
  expect(idsOf(await search('?reference=kept'))).toEqual([id])
})
