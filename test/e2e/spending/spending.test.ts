import { afterAll, beforeAll, expect, test } from 'vitest'
import { issueLimited } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

let story: Scenario
beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const NETWORK = 'evm:anvil'

const issue = (rules: object) => issueLimited(story.service, rules)

const transfer = (to: string, amount: bigint) =>
  `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`

const pay = (value: number | string, to = RECEIVER) => ({ to, value, speed: 'fast' })

test('a key sends only to its receivers, and the refusal names the rule', async () => {
  const { id, send } = await issue({ receivers: [RECEIVER] })
  expect((await send(pay(1))).status).toBe(200)
  const refused = await send(pay(1, OTHER))
  expect([refused.status, refused.body.code]).toEqual([400, 'rule_violated'])
  expect(refused.body.error).toBe(
    `Rule receivers of API key ${id}: ${OTHER.toLowerCase()} is not among the receivers.`,
  )
})

test('a receiver cannot be hidden in the call of a token, nor in a call that cannot be decoded', async () => {
  const { send } = await issue({ receivers: [RECEIVER] })
  for (const data of [transfer(OTHER, 1n), '0x39509351', `0xa9059cbb${'00'.repeat(20)}`]) {
    const refused = await send({ to: OTHER, value: 0, data, speed: 'fast', gas_limit: 90_000 })
    expect([refused.status, refused.body.code]).toEqual([400, 'rule_violated'])
  }
})

test('a budget of a day is spent once, and what is not spent comes back', async () => {
  const { id, send, usage } = await issue({ limits: [{ per: 'day', value: '100', count: 3 }] })
  const first = await send(pay(60))
  expect(first.status).toBe(200)
  const refused = await send(pay(41))
  expect(refused.body.error).toBe(
    `Rule limits[0].value of API key ${id}: value up to 100 per day on ${NETWORK}; 40 is left, and this transaction needs up to 41.`,
  )
  expect((await send(pay(40))).status).toBe(200)
  const { body } = await story.service.api<{ after: { rules?: string[] } }[]>('GET', `/audit?actor=${id}`)
  expect(body.data[0]?.after.rules?.[0]).toContain('40 is left, and this transaction needs up to 40.')
  await story.reach(first.body.data.id, 'submitted')
  await story.mine(2)
  await story.reach(first.body.data.id, 'confirmed')
  expect((await usage()).limits).toEqual([
    {
      rule: 'limits[0]',
      per: 'day',
      network: NETWORK,
      asset: 'native',
      value: { limit: '100', spent: '100', left: '0' },
      count: { limit: '3', spent: '2', left: '1' },
    },
  ])
})
