import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../support/faulty-node.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'

const GWEI = 10n ** 9n
const hex = (value: bigint) => `0x${value.toString(16)}`

type Lie = NonNullable<Habits['lie']>

/** Answers these methods with what `change` makes of the true result. */
function lieAbout(method: string, change: (result: unknown) => unknown): Lie {
  return (call, reply) => (call.method === method ? { ...reply, result: change(reply.result) } : reply)
}

const fields = (value: unknown) => value as Readonly<Record<string, unknown>>

/** Everything as it was at the first block. */
const standingStill: Lie = (call, reply) => {
  if (call.method === 'eth_blockNumber') return { ...reply, result: '0x0' }
  if (call.method !== 'eth_getBlockByNumber') return reply
  return { ...reply, result: { ...fields(reply.result), number: '0x0', baseFeePerGas: '0x1' } }
}

const LIES: readonly (readonly [string, Lie])[] = [
  ['a tip of 5,000 gwei', lieAbout('eth_maxPriorityFeePerGas', () => hex(5_000n * GWEI))],
  [
    'a 99th percentile of 50,000 gwei',
    (call, reply) =>
      call.method === 'eth_maxPriorityFeePerGas'
        ? { ...reply, result: hex(5_000n * GWEI) }
        : lieAbout('eth_feeHistory', (result) => ({
            ...fields(result),
            reward: Array.from({ length: 4 }, () => ['0x1', '0x1', '0x1', hex(50_000n * GWEI)]),
          }))(call, reply),
  ],
  ['a gas price of a million gwei', lieAbout('eth_gasPrice', () => hex(1_000_000n * GWEI))],
  ['a gas price of zero', lieAbout('eth_gasPrice', () => '0x0')],
  [
    'base fees of a million gwei',
    lieAbout('eth_feeHistory', (result) => ({
      ...fields(result),
      baseFeePerGas: Array.from({ length: 5 }, () => hex(1_000_000n * GWEI)),
    })),
  ],
  [
    'a block gas limit of 20,480',
    lieAbout('eth_getBlockByNumber', (result) => ({ ...fields(result), gasLimit: '0x5000' })),
  ],
  ['an estimate of 100 gas', lieAbout('eth_estimateGas', () => '0x64')],
  ['an estimate of a billion gas', lieAbout('eth_estimateGas', () => '0x3b9aca00')],
  [
    'a revert',
    (call, reply) =>
      call.method === 'eth_estimateGas'
        ? ({ id: reply.id, error: { code: 3, message: 'execution reverted: no' } } as typeof reply)
        : reply,
  ],
  ['no money', lieAbout('eth_getBalance', () => '0x0')],
  ['a nonce of a million', lieAbout('eth_getTransactionCount', () => '0xf4240')],
  ['code of a delegation', lieAbout('eth_getCode', () => `0xef0100${'11'.repeat(20)}`)],
  [
    'a block of the far future',
    (call, reply) =>
      call.method === 'eth_blockNumber'
        ? { ...reply, result: '0xe8d4a51000' }
        : lieAbout('eth_getBlockByNumber', (result) => ({ ...fields(result), number: '0xe8d4a51000' }))(
            call,
            reply,
          ),
  ],
  ['that nothing has happened since the first block', standingStill],
]

describe.each([
  { endpoints: 3, name: 'one endpoint of three' },
  { endpoints: 2, name: 'one endpoint of two' },
])('$name that says', ({ endpoints }) => {
  let anvil: Anvil
  let nodes: FaultyNode[]
  let story: Scenario
  const clock = createAdjustableClock()

  beforeAll(async () => {
    anvil = await startAnvil({ args: ['--no-mining'] })
    nodes = await Promise.all(Array.from({ length: endpoints }, () => startFaultyNode(anvil.url)))
    // The stories mine some ten blocks a second, and a chain that is much faster than its block time looks like a lie.
    const network = { average_blocktime_ms: 50 }
    story = scenarioOf(anvil, await startService({ rpcUrls: nodes.map(({ url }) => url), clock, network }))
    await story.mine(5)
  }, 120_000)
  afterAll(async () => {
    await story.stop()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  test.each(LIES)('%s neither raises what is paid, nor refuses or holds up a payment', async (_name, lie) => {
    const [liar] = nodes
    if (liar === undefined) throw new Error('there is no node')
    liar.habits = { lie }
    onTestFinished(() => {
      liar.habits = undefined
    })
    const { id } = await story.send({ to: RECEIVER, value: 7, data: '0x1234', speed: 'fastest' })
    await story.reach(id, 'submitted')
    await story.mine(2)
    const { receipt } = await story.reach(id, 'mined', () => story.mine())
    const { gas_used, effective_gas_price } = receipt as unknown as {
      gas_used: number
      effective_gas_price: string
    }
    // anvil begins with a base fee of 1 gwei, and suggests a tip of 1 gwei: twice that for the fastest.
    expect(BigInt(effective_gas_price)).toBeLessThanOrEqual(8n * GWEI)
    expect(gas_used).toBeLessThan(30_000)
    const relayer = await story.service.api<{ system_disabled: boolean }>('GET', '/relayers/main')
    expect(relayer.body.data.system_disabled).toBe(false)
  })
})
