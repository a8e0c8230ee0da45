import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { RECEIVER } from '../support/service.ts'

let story: Scenario
beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const NETWORK = 'evm:anvil'

interface Answer {
  readonly id: string
  readonly status: string
}

interface Amount {
  readonly limit: string
  readonly spent: string
  readonly left: string
}

interface Usage {
  readonly limits: readonly {
    readonly rule: string
    readonly value?: Amount
    readonly fees?: Amount
    readonly count?: Amount
  }[]
  readonly spent: readonly {
    readonly day: { readonly value: string; readonly fees: string; readonly count: number }
  }[]
}

/** Issues a key that may send, with rules. */
async function issue(rules: object): Promise<{ id: string; send: ReturnType<typeof sender> }> {
  const scopes = ['relayers:read', 'transactions:read', 'transactions:write', 'sign']
  const issued = await story.service.api<{ id: string; secret: string }>('POST', '/api-keys', {
    name: 'Test',
    scopes,
    rules,
  })
  expect([issued.status, issued.body.error]).toEqual([201, undefined])
  return { id: issued.body.data.id, send: sender(issued.body.data.secret) }
}

function sender(secret: string) {
  return (body: object, { path = '/relayers/main/transactions', method = 'POST' } = {}) =>
    story.service.api<Answer>(method, path, body, { authorization: `Bearer ${secret}` })
}

const usageOf = async (path: string) => (await story.service.api<Usage>('GET', `${path}/usage`)).body.data

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

test('a receiver cannot be hidden in the call of a token, nor in a call that nobody can read', async () => {
  const { send } = await issue({ receivers: [RECEIVER] })
  for (const data of [transfer(OTHER, 1n), '0x39509351', `0xa9059cbb${'00'.repeat(20)}`]) {
    const refused = await send({ to: OTHER, value: 0, data, speed: 'fast', gas_limit: 90_000 })
    expect([refused.status, refused.body.code]).toEqual([400, 'rule_violated'])
  }
})

test('a budget of a day is spent once, and what is not spent comes back', async () => {
  const { id, send } = await issue({ limits: [{ per: 'day', value: '100', count: 3 }] })
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
  expect((await usageOf(`/api-keys/${id}`)).limits).toEqual([
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
