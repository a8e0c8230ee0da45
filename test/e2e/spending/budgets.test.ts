import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { issueLimited, type LimitedKey, outcomeOf, usageOf, violationIn } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Code at this address reverts always. */
const REVERTING = '0x00000000000000000000000000000000000000ff'
const GWEI = 1_000_000_000n
const GAS = 21_000n

let story: Scenario

beforeAll(async () => {
  // Whatever comes after the first one is not signed until that is included.
  story = await startScenario({ env: { RELAYER_MAX_IN_FLIGHT: '1' } })
  await story.anvil.rpc('anvil_setCode', [REVERTING, '0x5f5ffd'])
}, 60_000)
afterEach(() => story.settle())
afterAll(() => story.stop())

/** More than anything here costs. */
const PLENTY = 10n ** 18n

const limitOf = (amounts: { value?: bigint; fees?: bigint; count?: number }) => ({
  limits: [
    {
      per: 'day',
      ...(amounts.value === undefined ? {} : { value: String(amounts.value) }),
      ...(amounts.fees === undefined ? {} : { fees: String(amounts.fees) }),
      ...(amounts.count === undefined ? {} : { count: amounts.count }),
    },
  ],
})
const EVERYTHING = limitOf({ value: 100n, fees: PLENTY, count: 10 })

const pay = (value: bigint, gwei = 3n, to = RECEIVER) => ({
  to,
  value: String(value),
  gas_limit: String(GAS),
  max_fee_per_gas: String(gwei * GWEI),
  max_priority_fee_per_gas: String((gwei * GWEI) / 3n),
})

/** Value, fees and count that the first limit of a key counts. */
async function spentBy(key: LimitedKey): Promise<[value: bigint, fees: bigint, count: number]> {
  const [limit] = (await key.usage()).limits
  const [value, fees, count] = [limit?.value, limit?.fees, limit?.count].map((amount) => amount?.spent ?? '0')
  return [BigInt(value ?? 0), BigInt(fees ?? 0), Number(count)]
}

/** Waits until so much value and so many transactions are counted. */
const untilSpent = (key: LimitedKey, value: bigint, count: number) =>
  until(
    () => spentBy(key),
    (spent) => spent[0] === value && spent[2] === count,
  )

/** The fee that the chain charged for what is included of a transaction. */
async function chargedFor(id: string): Promise<bigint> {
  const { hash } = await story.get(id)
  const receipt = await story.anvil.rpc<Record<'gasUsed' | 'effectiveGasPrice', string>>(
    'eth_getTransactionReceipt',
    [hash],
  )
  return BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
}

/** Mines until the transaction has this status, and expects that its key is charged this value and the fee that the chain charged. */
async function expectCharged(
  key: LimitedKey,
  { id, status, value }: { id: string; status: Transaction['status']; value: bigint },
): Promise<void> {
  await story.mine(2)
  await story.reach(id, status)
  const [, fees] = await untilSpent(key, value, 1)
  expect(fees).toBe(await chargedFor(id))
  expect(fees).toBeGreaterThan(0n)
}

const pathOf = (id: string) => `/relayers/main/transactions/${id}`

/** Sends with a key and waits until a node has it. */
async function submitted(key: LimitedKey, body: object): Promise<string> {
  const answer = await key.send(body)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  await story.reach(answer.body.data.id, 'submitted')
  return answer.body.data.id
}

describe('a replacement', () => {
  test('that costs more than the rest is refused and changes nothing', async () => {
    const key = await issueLimited(story.service, EVERYTHING)
    const id = await submitted(key, pay(60n))
    const [before, spent] = [await story.get(id), await spentBy(key)]
    expect(spent).toEqual([60n, 3n * GWEI * GAS, 1])
    const refused = await key.call('PUT', pathOf(id), pay(101n, 9n))
    expect(violationIn(refused)).toContain('100 is left, and this transaction needs up to 101.')
    expect(await story.get(id)).toEqual(before)
    expect(await spentBy(key)).toEqual(spent)
  })

  test('is charged with what it costs more, until the chain has decided', async () => {
    const key = await issueLimited(story.service, EVERYTHING)
    const id = await submitted(key, pay(60n))
    expect(outcomeOf(await key.call('PUT', pathOf(id), pay(90n, 9n)))).toBe('200')
    expect(await spentBy(key)).toEqual([90n, 9n * GWEI * GAS, 1])
    // The earlier content could still be included, so its value is not free yet.
    expect(outcomeOf(await key.call('PUT', pathOf(id), pay(10n, 12n)))).toBe('200')
    expect(await spentBy(key)).toEqual([90n, 12n * GWEI * GAS, 1])
    await expectCharged(key, { id, status: 'confirmed', value: 10n })
  })

  test('by another key is charged to that key, within its own budget', async () => {
    const first = await issueLimited(story.service, EVERYTHING)
    const second = await issueLimited(story.service, limitOf({ value: 70n, fees: PLENTY, count: 1 }))
    const id = await submitted(first, pay(60n))
    const refused = await second.call('PUT', pathOf(id), pay(71n, 9n))
    expect([outcomeOf(refused), await spentBy(second)]).toEqual(['400 rule_violated', [0n, 0n, 0]])
    expect(outcomeOf(await second.call('PUT', pathOf(id), pay(70n, 9n)))).toBe('200')
    expect(await spentBy(second)).toEqual([70n, 9n * GWEI * GAS, 1])
    // Whichever content is included, the account pays for a transaction that the first key has sent.
    expect(await spentBy(first)).toEqual([60n, 9n * GWEI * GAS, 1])
  })
})

describe('a budget gets back', () => {
  test('after a cancellation is everything but the fee of what took its nonce', async () => {
    const key = await issueLimited(story.service, EVERYTHING)
    const id = await submitted(key, pay(60n))
    expect(outcomeOf(await key.call('DELETE', pathOf(id)))).toBe('200')
    expect((await spentBy(key))[0]).toBe(60n)
    await expectCharged(key, { id, status: 'canceled', value: 0n })
  })

  test('after it reverted is the value', async () => {
    const key = await issueLimited(story.service, EVERYTHING)
    const id = await submitted(key, { ...pay(60n, 3n, REVERTING), gas_limit: '100000' })
    expect(await spentBy(key)).toEqual([60n, 3n * GWEI * 100_000n, 1])
    await expectCharged(key, { id, status: 'failed', value: 0n })
  })

  test('when it was canceled before anything was signed is everything', async () => {
    const key = await issueLimited(story.service, EVERYTHING)
    await submitted(key, pay(1n))
    const { body } = await key.send(pay(60n))
    expect(await spentBy(key)).toEqual([61n, 6n * GWEI * GAS, 2])
    expect(outcomeOf(await key.call('DELETE', pathOf(body.data.id)))).toBe('200')
    expect((await story.get(body.data.id)).status).toBe('canceled')
    expect(await untilSpent(key, 1n, 1)).toEqual([1n, 3n * GWEI * GAS, 1])
  })

  test('when it expired before anything was signed is everything', async () => {
    const key = await issueLimited(story.service, EVERYTHING)
    const first = await submitted(key, pay(1n))
    const end = Date.now() + 500
    const { body } = await key.send({ ...pay(60n), valid_until: new Date(end).toISOString() })
    expect(await spentBy(key)).toEqual([61n, 6n * GWEI * GAS, 2])
    await until(
      async () => Date.now(),
      (now) => now > end,
    )
    await story.mine(2)
    await story.reach(body.data.id, 'expired')
    await story.reach(first, 'confirmed')
    expect((await story.get(body.data.id)).attempts).toEqual([])
    const [, fees] = await untilSpent(key, 1n, 1)
    expect(fees).toBeLessThanOrEqual(3n * GWEI * GAS)
  })
})

describe('a signature without sending', () => {
  const unsigned = { ...pay(60n), nonce: 1_000 }
  const sign = (key: LimitedKey) => key.call('POST', '/relayers/main/sign-transaction', unsigned)

  test('counts for ever, as a transaction that anybody can send', async () => {
    const key = await issueLimited(story.service, EVERYTHING)
    expect(outcomeOf(await sign(key))).toBe('200')
    expect(await spentBy(key)).toEqual([60n, 3n * GWEI * GAS, 1])
    expect(violationIn(await sign(key))).toContain('40 is left, and this transaction needs up to 60.')
    expect(outcomeOf(await key.send(pay(41n)))).toBe('400 rule_violated')
    expect(await spentBy(key)).toEqual([60n, 3n * GWEI * GAS, 1])
  })

  const HASHES = { domain_separator: 'ab'.repeat(32), hash_struct_message: 'cd'.repeat(32) }
  test.each([
    ['sign', { message: 'hello' }],
    ['sign-typed-data', HASHES],
  ])('of content that cannot be decoded (%s) needs a rule that allows it', async (operation, body) => {
    const path = `/relayers/main/${operation}`
    const none = await issueLimited(story.service, EVERYTHING)
    expect(violationIn(await none.call('POST', path, body))).toContain(
      `Rule signatures of API key ${none.id}`,
    )
    const any = await issueLimited(story.service, { ...EVERYTHING, signatures: 'any' })
    expect(outcomeOf(await any.call('POST', path, body))).toBe('200')
  })
})

describe('the rules of a relayer', () => {
  const patch = (rules: object | null) =>
    story.service.api('PATCH', '/relayers/main', { policies: { rules } })

  test('hold for every key, and for the root key too, until they are taken away', async () => {
    const key = await issueLimited(story.service, {})
    expect(outcomeOf(await patch(limitOf({ count: 2 })))).toBe('200')
    const others = await issueLimited(story.service, limitOf({ count: 2 }))
    expect(outcomeOf(await story.post(pay(1n)))).toBe('200')
    expect(outcomeOf(await key.send(pay(1n)))).toBe('200')
    for (const answer of [await story.post(pay(1n)), await key.send(pay(1n)), await others.send(pay(1n))])
      expect(violationIn(answer)).toContain('Rule limits[0].count of relayer main')
    expect((await usageOf(story.service, '/relayers/main')).limits[0]?.count).toEqual({
      limit: '2',
      spent: '2',
      left: '0',
    })
    expect(outcomeOf(await patch(null))).toBe('200')
    expect(outcomeOf(await story.post(pay(1n)))).toBe('200')
    expect(await others.usage()).toEqual({ limits: [], spent: [] })
  })
})

test('a key with rules cannot manage keys, because it could make one without rules', async () => {
  const key = { name: 'Test', scopes: ['api-keys:admin'], rules: EVERYTHING }
  const { status, body } = await story.service.api('POST', '/api-keys', key)
  expect([status, body.error]).toEqual([400, expect.stringContaining('cannot be limited by rules')])
})

describe('an idempotency key', () => {
  test('that is repeated is charged once', async () => {
    const key = await issueLimited(story.service, limitOf({ value: 60n, count: 1 }))
    const headers = { 'Idempotency-Key': 'budgets-once' }
    const answers = [await key.send(pay(60n), headers), await key.send(pay(60n), headers)]
    expect(answers.map(outcomeOf)).toEqual(['200', '200'])
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1)
    expect((await spentBy(key))[0]).toBe(60n)
  })

  test('that many requests share at the same time is charged once, although the budget is for one', async () => {
    const key = await issueLimited(story.service, limitOf({ value: 60n, count: 1 }))
    const headers = { 'Idempotency-Key': 'budgets-at-once' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => key.send(pay(60n), headers)))
    expect(answers.map(outcomeOf)).toEqual(Array(8).fill('200'))
    expect((await spentBy(key))[0]).toBe(60n)
  })

  test('that is required and not there is missed', async () => {
    const key = await issueLimited(story.service, { idempotency: 'required' })
    expect(violationIn(await key.send(pay(1n)))).toBe(
      `Rule idempotency of API key ${key.id}: the header Idempotency-Key is required.`,
    )
    expect(outcomeOf(await key.send(pay(1n), { 'Idempotency-Key': 'budgets-required' }))).toBe('200')
  })
})
