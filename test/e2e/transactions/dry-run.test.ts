import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

let story: Scenario
beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

interface DryRun {
  readonly accepted: boolean
  readonly code?: string
  readonly error?: string
  readonly simulation: string
  readonly unit: string
  readonly value?: string
  readonly max_fee?: string
  readonly max_cost?: string
  readonly gas_limit?: number
  readonly balance?: string
  readonly reserved?: string
  readonly rules: readonly { readonly spender: string; readonly rule: string; readonly allowed: boolean }[]
}

const PATH = '/relayers/main/transactions'

/** Everything that a dry run must not change. */
async function traces() {
  const [transactions, audit, events] = await Promise.all(
    [PATH, '/audit', '/events'].map((path) => story.service.api<unknown[]>('GET', path)),
  )
  return [transactions?.body.data, audit?.body.data, events?.body.data]
}

interface Options {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
}

async function dryRun(body: object, { path = PATH, method = 'POST', headers = {} }: Options = {}) {
  const before = await traces()
  const answer = await story.service.api<DryRun>(method, `${path}?dry_run=true`, body, headers)
  expect(await traces()).toEqual(before)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  const logs = answer.body.metadata?.logs.map(({ message }) => message) ?? []
  return { ...answer.body.data, logs }
}

const pay = (value: number) => ({ to: RECEIVER, value, speed: 'fast' })

test('a dry run tells the price, and stores nothing', async () => {
  const answer = await dryRun(pay(7))
  expect(answer).toMatchObject({
    dry_run: true,
    accepted: true,
    simulation: 'succeeded',
    unit: 'wei',
    value: '7',
    gas_limit: 23_100,
    reserved: '0',
    rules: [],
  })
  expect(BigInt(answer.max_cost ?? 0)).toBe(BigInt(answer.max_fee ?? 0) + 7n)
})

test('a dry run decodes why a call would revert', async () => {
  // PUSH1 0 PUSH1 0 REVERT
  const answer = await dryRun({ value: 0, data: '0x60006000fd', speed: 'fast' })
  expect(answer).toMatchObject({ accepted: false, code: 'execution_reverted', simulation: 'refused' })
})

test('a dry run says what each rule says, and counts nothing', async () => {
  const { body } = await story.service.api<{ id: string; secret: string }>('POST', '/api-keys', {
    id: 'dry',
    name: 'Dry',
    scopes: ['transactions:write'],
    rules: { receivers: [RECEIVER], limits: [{ per: 'day', value: 10 }] },
  })
  const headers = { authorization: `Bearer ${body.data.secret}` }
  for (const value of [10, 11, 10]) {
    const answer = await dryRun(pay(value), { headers })
    const isWithin = value === 10
    expect(answer).toMatchObject({ accepted: isWithin, ...(isWithin ? {} : { code: 'rule_violated' }) })
    expect(answer.rules.map(({ spender, rule, allowed }) => [spender, rule, allowed])).toEqual([
      ['API key dry', 'receivers', true],
      ['API key dry', 'limits[0].value', isWithin],
    ])
  }
})

test('a dry run of a replacement tells its price, and the transaction stays as it is', async () => {
  const { id } = await story.send(pay(1))
  await story.reach(id, 'submitted')
  const path = `${PATH}/${id}`
  const answer = await dryRun(pay(2), { path, method: 'PUT' })
  expect(answer).toMatchObject({ accepted: true, simulation: 'succeeded', value: '2', reserved: '0' })
  const cheap = { to: RECEIVER, value: 2, max_fee_per_gas: 1, max_priority_fee_per_gas: 1, gas_limit: 21_000 }
  const refused = await dryRun(cheap, { path, method: 'PUT' })
  expect(refused).toMatchObject({ accepted: false, code: 'replacement_underpriced', simulation: 'refused' })
  await story.mine(2)
  await story.reach(id, 'confirmed')
  const late = await dryRun(pay(2), { path, method: 'PUT' })
  expect(late).toMatchObject({ accepted: false, code: 'transaction_not_replaceable', simulation: 'skipped' })
})

const withKey = (name: string) => ({ headers: { 'Idempotency-Key': name } })

/** Sends, and waits until nothing more happens by itself: without a block the transaction stays in the pool. */
async function sendWithKey(name: string, body: object) {
  const { id } = (await story.service.api('POST', PATH, body, withKey(name).headers)).body.data
  await story.reach(id, 'submitted')
  return id
}

test('a dry run with the key and the body of an earlier request names its transaction, even while the relayer is paused', async () => {
  const id = await sendWithKey('dry-same', pay(3))
  await story.service.api('PATCH', '/relayers/main', { paused: true })
  const answer = await dryRun(pay(3), withKey('dry-same'))
  const refused = await dryRun(pay(3), withKey('dry-other'))
  await story.service.api('PATCH', '/relayers/main', { paused: false })
  expect(answer).toEqual({
    dry_run: true,
    accepted: true,
    simulation: 'skipped',
    unit: 'wei',
    rules: [],
    logs: [`This Idempotency-Key was used before: a send would return transaction ${id} and spend nothing.`],
  })
  expect(refused).toMatchObject({ accepted: false, code: 'relayer_paused', simulation: 'skipped', logs: [] })
  expect(await sendWithKey('dry-same', pay(3))).toBe(id)
})

test('a dry run with the key of another body is refused, as sending would be', async () => {
  const id = await sendWithKey('dry-reused', pay(4))
  const answer = await dryRun(pay(5), withKey('dry-reused'))
  expect(answer).toMatchObject({
    accepted: false,
    code: 'idempotency_key_reused',
    simulation: 'skipped',
    logs: [],
  })
  const sent = await story.service.api('POST', PATH, pay(5), withKey('dry-reused').headers)
  expect([sent.status, sent.body.code, sent.body.error]).toEqual([409, answer.code, answer.error])
  expect(answer.error).toContain(id)
})

test('a dry run uses no key up', async () => {
  const answer = await dryRun(pay(6), withKey('dry-new'))
  expect(answer).toMatchObject({ accepted: true, simulation: 'succeeded', value: '6' })
  const sent = await story.service.api('POST', PATH, pay(7), withKey('dry-new').headers)
  expect(sent.status).toBe(200)
})
