import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../support/faulty-node.ts'
import { issueLimited } from '../../support/limited-key.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** No one else pays it. */
const PAYEE = '0x00000000000000000000000000000000000000b7'
const MADE_UP = `0x${'de'.repeat(32)}`

let anvil: Anvil
let node: FaultyNode
let clock: AdjustableClock
let story: Scenario

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  clock = createAdjustableClock()
  // A check of the node that is under way when the time moves has no answer, and would disable the relayer.
  const env = { RELAYER_HEALTH_INTERVAL_SECONDS: '3600' }
  story = scenarioOf(anvil, await startService({ rpcUrls: [node.url], clock, env }))
}, 120_000)
afterAll(async () => {
  await story.stop()
  await node.stop()
})

/** Denies what the service broadcast, and names another user of its nonce in the block. */
const denies: NonNullable<Habits['lie']> = ({ method }, reply) => {
  if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash')
    return { ...reply, result: null }
  if (method === 'eth_sendRawTransaction')
    return { id: reply.id, error: { code: -32000, message: 'nonce too low' } } as typeof reply
  const block = reply.result as { transactions?: { to?: string }[] } | null
  if (method !== 'eth_getBlockByNumber' || !Array.isArray(block?.transactions)) return reply
  const transactions = block.transactions.map((one) => (one.to === PAYEE ? { ...one, hash: MADE_UP } : one))
  return { ...reply, result: { ...block, transactions } }
}

/** Each look of the service at the network begins with the newest block. */
const looks = () => node.calls.get('eth_getBlockByNumber') ?? 0
const paid = async () => BigInt(await anvil.rpc<string>('eth_getBalance', [PAYEE, 'latest']))

describe('the only node of a network that denies a payment and makes up another user of its nonce', () => {
  test('does not make the service pay again', async () => {
    const { id } = await story.send({ to: PAYEE, value: 1_000 })
    const { nonce } = await story.reach(id, 'submitted')
    node.habits = { lie: denies }
    onTestFinished(() => {
      node.habits = undefined
    })
    await story.mine(3)
    for (let look = 0; look < 8; look += 1) {
      const before = looks()
      clock.advance(31_000)
      await story.mine()
      await until(
        async () => looks(),
        (now) => now > before + 5,
      )
      const seen = await story.get(id)
      // A higher fee for the same nonce harms no one, because the chain includes one transaction of a nonce.
      expect(new Set(seen.attempts?.map((attempt) => attempt.nonce))).toEqual(new Set([nonce]))
      expect([seen.nonce, await paid()]).toEqual([nonce, 1_000n])
    }
    node.habits = undefined
    await story.reach(id, 'confirmed', () => clock.advance(31_000))
    expect(await paid()).toBe(1_000n)
  })
})

describe('the only node of a network that names prices of 256 bits', () => {
  test('does not make the service fail: the transaction waits for prices that a chain can ask', async () => {
    const absurd = `0x${'f'.repeat(64)}`
    node.habits = {
      lie: ({ method }, reply) => {
        if (method === 'eth_gasPrice' || method === 'eth_maxPriorityFeePerGas')
          return { ...reply, result: absurd }
        return method === 'eth_feeHistory'
          ? { ...reply, result: { baseFeePerGas: [absurd], reward: [[absurd]] } }
          : reply
      },
    }
    onTestFinished(() => {
      node.habits = undefined
    })
    // Prices that it told before are fresh for about a block.
    clock.advance(31_000)
    const { id } = await story.send({ to: PAYEE, value: 1 })
    await until(
      () => story.get(id),
      ({ status_reason }) => /prices are unknown/.test(status_reason ?? ''),
    )
    node.habits = undefined
    await story.reach(id, 'submitted', () => clock.advance(31_000))
    await story.mine(3)
    await story.reach(id, 'confirmed', () => clock.advance(31_000))
  })
})

describe('the endpoints of a relayer', () => {
  const keyWith = async (body: object) => {
    const key = { name: 'Narrow', ...body }
    const { body: made } = await story.service.api<{ id: string; secret: string }>('POST', '/api-keys', key)
    return { authorization: `Bearer ${made.data.secret}` }
  }
  const OWN = { custom_rpc_urls: [{ url: 'https://node.example' }] }
  const WRITE = ['relayers:read', 'relayers:write']

  test.each([
    {
      name: 'relayers:write alone',
      rights: { scopes: WRITE, relayers: ['main'] },
      says: 'lacks networks:admin',
    },
    {
      name: 'rules',
      rights: {
        scopes: [...WRITE, 'networks:admin'],
        rules: { limits: [{ per: 'day', asset: 'native', value: 1 }] },
      },
      says: 'limited by rules',
    },
  ])('are not set by a key with $name', async ({ rights, says }) => {
    const headers = await keyWith(rights)
    const refused = await story.service.api('PATCH', '/relayers/main', OWN, headers)
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.error).toContain(`custom_rpc_urls: API key`)
    expect(refused.body.error).toContain(says)
    expect(
      (await story.service.api('PATCH', '/relayers/main', { custom_rpc_urls: null }, headers)).status,
    ).toBe(200)
  })
})

describe('a node that a caller of the API named, which says that every payment was reverted', () => {
  let operators: FaultyNode
  let named: FaultyNode
  let own: Scenario

  beforeAll(async () => {
    const chain = await startAnvil({ args: ['--no-mining'] })
    operators = await startFaultyNode(chain.url)
    named = await startFaultyNode(chain.url)
    const env = { RELAYER_ALLOW_PRIVATE_URLS: 'true' }
    own = scenarioOf(chain, await startService({ rpcUrls: [operators.url], env }))
    const custom_rpc_urls = [{ url: named.url }]
    expect((await own.service.api('PATCH', '/relayers/main', { custom_rpc_urls })).status).toBe(200)
  }, 120_000)
  afterAll(async () => {
    await own.stop()
    for (const node of [operators, named]) await node.stop()
  })

  const receipts = (node: FaultyNode) => node.calls.get('eth_getTransactionReceipt') ?? 0

  test.each([
    { name: 'contradict it', fault: 'pass' },
    { name: 'are silent', fault: 'drop' },
  ] as const)("gives no budget back while the operator's endpoints $name", async ({ fault }) => {
    const key = await issueLimited(own.service, { limits: [{ per: 'day', value: '1000' }] })
    const spent = async () => (await key.usage()).limits[0]?.value?.spent
    operators.fault = () => fault
    named.habits = {
      lie: ({ method }, reply) =>
        method === 'eth_getTransactionReceipt' && reply.result !== null
          ? { ...reply, result: { ...(reply.result as object), status: '0x0' } }
          : reply,
    }
    const { id } = (await key.send({ to: RECEIVER, value: 600 })).body.data
    await own.reach(id, 'submitted')
    await own.mine(5)
    await own.reach(id, 'mined')
    const before = receipts(operators)
    await until(
      async () => receipts(operators),
      (now) => now > before + 3,
    )
    expect((await own.get(id)).status).toBe('mined')
    expect(await spent()).toBe('600')
    expect((await key.send({ to: RECEIVER, value: 600 })).body.code).toBe('rule_violated')
    operators.fault = () => 'pass'
    named.habits = undefined
    expect((await own.reach(id, 'confirmed', () => own.mine())).status_reason).toBeUndefined()
    expect(await spent()).toBe('600')
  })
})

describe('the only node of a network that takes a replacement and says that it refuses it', () => {
  const refuses: NonNullable<Habits['lie']> = ({ method }, reply) =>
    method === 'eth_sendRawTransaction'
      ? ({
          id: reply.id,
          error: { code: -32000, message: 'replacement transaction underpriced' },
        } as typeof reply)
      : reply
  const change = {
    PUT: { body: { to: RECEIVER, value: 7 }, status: 'confirmed', value: '7' },
    DELETE: { body: undefined, status: 'canceled', value: '0' },
  } as const

  test.each(['PUT', 'DELETE'] as const)(
    'is not believed further than it can be known: %s says so, and the record what the chain has done',
    async (method) => {
      const { body, status, value } = change[method]
      const { id } = await story.send({ to: PAYEE, value: 1_000 })
      await story.reach(id, 'submitted')
      const before = await paid()
      node.habits = { lie: refuses }
      onTestFinished(() => {
        node.habits = undefined
      })
      const refused = await story.service.api(method, `/relayers/main/transactions/${id}`, body)
      expect([refused.status, refused.body.code]).toEqual([400, 'replacement_underpriced'])
      expect(refused.body.error).toContain('a block can still include them, and the record then says so')
      node.habits = undefined
      const final = await story.reach(id, status, () => story.mine())
      expect(await paid()).toBe(before)
      expect(final.value).toBe(value)
      // The reason tells why the record has another content than the answer said.
      expect(final.status_reason).toMatch(
        /^The (replacement|cancellation) \(attempt 2\) was included, although a node had refused it: .*underpriced/,
      )
      expect(await story.minedHash(final.from, final.nonce ?? 0n)).toBe(final.hash)
    },
  )
})
