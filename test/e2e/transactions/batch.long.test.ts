import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { issueLimited, outcomeOf } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, sendBatch, type Transaction } from '../../support/service.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterEach(() => story.settle())
afterAll(() => story.stop())

/** A name for a request that no other test uses. */
const newKey = () => crypto.randomUUID()

const pay = (value: bigint | number, more: object = {}) => ({
  to: RECEIVER,
  value: String(value),
  gas_limit: 21_000,
  ...more,
})

const payments = (count: number) => Array.from({ length: count }, (_, index) => pay(index))

const send = (transactions: readonly object[], headers?: Record<string, string>) =>
  sendBatch(story.service, transactions, headers)

const count = async () =>
  (await story.service.api('GET', '/relayers/main/transactions?per_page=0')).body.pagination?.total_items ?? 0

/** The number of the newest event. */
async function lastEvent(after = '0'): Promise<string> {
  const { body } = await story.service.api<{ number: string }[]>('GET', `/events?after=${after}&limit=100`)
  const last = body.data.at(-1)
  return last === undefined ? after : lastEvent(last.number)
}

/** Expects that a batch is refused with this code and sentence, and that nothing of it is stored. */
async function expectRefused(
  batch: readonly object[],
  [outcome, sentence]: readonly [string, string],
): Promise<void> {
  const before = await count()
  const answer = await send(batch)
  expect(outcomeOf(answer)).toBe(outcome)
  expect(answer.body.error).toContain(sentence)
  expect(await count()).toBe(before)
}

describe('a batch', () => {
  test('is accepted in the order of its list, and the nonces follow it', async () => {
    const { status, body } = await send(payments(20))
    expect(status).toBe(200)
    expect(body.data.map(({ value }) => value)).toEqual(payments(20).map(({ value }) => value))
    expect(body.data.every((transaction) => transaction.status === 'pending')).toBe(true)
    await story.settle()
    const sent = await Promise.all(body.data.map(({ id }) => story.get(id)))
    expect(sent.every((transaction) => transaction.status === 'confirmed')).toBe(true)
    const first = BigInt(sent[0]?.nonce ?? 0)
    expect(sent.map(({ nonce }) => BigInt(nonce ?? -1) - first)).toEqual(
      sent.map((_, index) => BigInt(index)),
    )
  })

  test('has an event and an audit entry for each transaction', async () => {
    const before = await lastEvent()
    const { body } = await send([pay(1), pay(2)])
    const ids = body.data.map(({ id }) => id)
    const audit = await story.service.api<{ target_id: string }[]>('GET', '/audit?action=sendTransaction')
    expect(audit.body.data.slice(0, 2).map(({ target_id }) => target_id)).toEqual(ids.toReversed())
    const events = await story.service.api<{ payload: { id: string; status: string } }[]>(
      'GET',
      `/events?after=${before}`,
    )
    const created = events.body.data.filter(({ payload }) => payload.status === 'pending')
    expect(created.map(({ payload }) => payload.id)).toEqual(ids)
  })

  test.each<[string, object, readonly [string, string]]>([
    ['a wrong field', pay(-1), ['400 invalid_request', 'body.transactions[57].value: expected']],
    [
      'a gas limit that no node takes',
      pay(1, { gas_limit: 20_999 }),
      ['400 gas_limit_too_low', 'body.transactions[57].gas_limit: at least 21000'],
    ],
    [
      'code that reverts',
      { value: 0, data: '0x60006000fd' },
      ['400 execution_reverted', 'body.transactions[57]: The transaction would revert'],
    ],
    ['more than the account has', pay(10n ** 30n), ['400 insufficient_balance', 'body.transactions[57]']],
    [
      'the request of another network type',
      { network: 'testnet', operations: [{ type: 'inflation' }] },
      ['400 invalid_request', 'body.transactions[57]'],
    ],
    [
      'the request of another network type that fits the contract',
      { transaction: 'AQAA' },
      ['400 wrong_network_type', 'body.transactions[57]: The body is a request for a relayer of type solana'],
    ],
  ])(
    'with %s at place 57 is refused as a whole, and the error names the place',
    async (_name, bad, refusal) => {
      await expectRefused(payments(100).with(57, bad as ReturnType<typeof pay>), refusal)
    },
  )

  test('counts the money of the items before', async () => {
    const { data } = (await story.service.api<{ balance: string }>('GET', '/relayers/main/balance')).body
    const half = BigInt(data.balance) / 2n + 1n
    await expectRefused([pay(half), pay(half)], ['400 insufficient_balance', 'body.transactions[1]: '])
  })

  test.each([
    ['no item', [], 'body.transactions: expected at least 1 item'],
    ['101 items', payments(101), 'body.transactions: expected at most 100 items'],
  ])('with %s is refused', (_name, batch, sentence) =>
    expectRefused(batch, ['400 invalid_request', sentence]),
  )

  test('of a paused relayer is refused without the place of an item', async () => {
    await story.service.api('PATCH', '/relayers/main', { paused: true })
    const { body } = await send([pay(1)])
    await story.service.api('PATCH', '/relayers/main', { paused: false })
    expect(body).toMatchObject({ code: 'relayer_paused', error: expect.not.stringContaining('transactions') })
  })
})

describe('the budget of a key', () => {
  test('counts the items before each one, and a refused batch takes nothing from it', async () => {
    const key = await issueLimited(story.service, { limits: [{ per: 'day', value: '100', count: 50 }] })
    const post = (transactions: readonly object[]) =>
      key.call('POST', '/relayers/main/transactions/batch', { transactions })
    const { limits } = await key.usage()
    const over = await post([pay(40), pay(40), pay(40)])
    expect(outcomeOf(over)).toBe('400 rule_violated')
    expect(over.body.error).toContain('body.transactions[2]: Rule limits[0].value')
    expect((await key.usage()).limits).toEqual(limits)
    expect((await post([pay(40), pay(40), pay(20)])).status).toBe(200)
    expect((await key.usage()).limits[0]).toMatchObject({ value: { spent: '100' }, count: { spent: '3' } })
  })

  test('lets single items wait for an approval', async () => {
    const key = await issueLimited(story.service, { require_approval: { above: [{ value: '10' }] } })
    const transactions = [pay(1), pay(11)]
    const { body } = await key.call<Transaction[]>('POST', '/relayers/main/transactions/batch', {
      transactions,
    })
    const [free, waiting] = body.data
    expect([free?.awaits_approval, waiting?.awaits_approval]).toEqual([undefined, true])
    await story.service.api('POST', `/relayers/main/transactions/${waiting?.id}/approval`, {
      decision: 'refuse',
    })
  })
})

describe('the keys of the items', () => {
  test('make a repeated batch the same transactions, and single sends know them', async () => {
    const batch = [pay(1), pay(2)].map((item) => ({ ...item, idempotency_key: newKey() }))
    const first = await send(batch)
    await story.settle()
    const before = await count()
    const again = await send(batch)
    expect(again.body.data.map(({ id }) => id)).toEqual(first.body.data.map(({ id }) => id))
    expect(again.body.data.map(({ status }) => status)).toEqual(['confirmed', 'confirmed'])
    expect(again.body.metadata?.logs.map(({ message }) => message)).toEqual([
      expect.stringContaining('transactions[0]: This Idempotency-Key was used before'),
      expect.stringContaining('transactions[1]: This Idempotency-Key was used before'),
    ])
    const { idempotency_key = '' } = batch[1] ?? {}
    const single = await story.service.api('POST', '/relayers/main/transactions', pay(2), {
      'Idempotency-Key': idempotency_key,
    })
    expect(single.body.data.id).toBe(first.body.data[1]?.id)
    expect(await count()).toBe(before)
  })

  test('that were used before give their transactions beside new ones', async () => {
    const used = { ...pay(3), idempotency_key: newKey() }
    const [earlier] = (await send([used])).body.data
    const { body } = await send([pay(4), used, pay(5)])
    expect(body.data.map(({ value }) => value)).toEqual(['4', '3', '5'])
    expect(body.data[1]?.id).toBe(earlier?.id)
  })

  test('that were used for other content refuse the batch with the place', async () => {
    const idempotency_key = newKey()
    await send([{ ...pay(6), idempotency_key }])
    await expectRefused(
      [pay(7), { ...pay(8), idempotency_key }],
      ['409 idempotency_key_reused', 'body.transactions[1].idempotency_key: this key was used'],
    )
  })

  test('have to differ', () => {
    const item = { ...pay(9), idempotency_key: newKey() }
    return expectRefused(
      [item, pay(10), item],
      ['400 invalid_request', 'body.transactions[2].idempotency_key: expected a key that no other item has'],
    )
  })

  test('of the same batch, sent many times at the same time, make its transactions once', async () => {
    const batch = payments(5).map((item) => ({ ...item, idempotency_key: newKey() }))
    const before = await count()
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(batch)))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.data.map(({ id }) => id)))).size).toBe(1)
    expect(await count()).toBe(before + 5)
  })

  test('give their transactions also when the money is spent since', async () => {
    const batch = [{ ...pay(11), idempotency_key: newKey() }]
    const { body } = await send(batch)
    await story.settle()
    await story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], '0x1'])
    const again = await send(batch)
    await story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], `0x${(10n ** 22n).toString(16)}`])
    expect(again.body.data[0]?.id).toBe(body.data[0]?.id)
  })

  test('do not stand in the header', async () => {
    const answer = await send([pay(1)], { 'Idempotency-Key': newKey() })
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toBe(
      'header.Idempotency-Key: expected no such header; give each item its own idempotency_key.',
    )
  })

  test.each(['POST', 'PUT'])('are refused in the body of a single request (%s)', async (method) => {
    const { id } = await story.send(pay(12))
    const path = `/relayers/main/transactions${method === 'PUT' ? `/${id}` : ''}`
    const answer = await story.service.api(method, path, { ...pay(13), idempotency_key: newKey() })
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toContain('body.idempotency_key')
  })
})
