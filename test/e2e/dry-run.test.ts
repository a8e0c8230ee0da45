import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { RECEIVER } from '../support/service.ts'

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

async function dryRun(
  body: object,
  { path = PATH, method = 'POST', secret }: { path?: string; method?: string; secret?: string } = {},
) {
  const before = await traces()
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  const answer = await story.service.api<DryRun>(method, `${path}?dry_run=true`, body, headers)
  expect(await traces()).toEqual(before)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  return answer.body.data
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
  const { secret } = body.data
  for (const value of [10, 11, 10]) {
    const answer = await dryRun(pay(value), { secret })
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
