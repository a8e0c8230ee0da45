import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../support/faulty-node.ts'
import { startService } from '../../support/service.ts'
import {
  addressOf,
  MAIN,
  RECEIVER,
  SOL,
  type SolanaScenario,
  solanaConfig,
  solanaScenarioOf,
  transfer,
} from '../../support/solana-scenario.ts'

type Lie = NonNullable<Habits['lie']>

/** The market price for priority that honest endpoints tell, in micro-lamports. */
const PRICE = 40_000

/** What an honest transfer costs at most, in lamports: its signature, and priority for some hundred units. */
const HONEST_FEE = 5_100n

const fields = (value: unknown) => value as Readonly<Record<string, unknown>>

/** Every endpoint tells prices of its own, because blocks of the test are empty. */
const priced =
  (price: number): Lie =>
  (call, reply) =>
    call.method === 'getRecentPrioritizationFees' && Array.isArray(reply.result)
      ? { ...reply, result: reply.result.map((entry) => ({ ...fields(entry), prioritizationFee: price })) }
      : reply

/** Answers this method with what `change` makes of the true result. */
const lieAbout =
  (method: string, change: (result: unknown) => unknown): Lie =>
  (call, reply) =>
    call.method === method ? { ...reply, result: change(reply.result) } : priced(PRICE)(call, reply)

/** An error of its own, of which the network hears nothing. */
const refuse = (method: string, error: Readonly<Record<string, unknown>>): Habits => ({
  answer: (call) => (call.method === method ? { error } : undefined),
  lie: priced(PRICE),
})

const valued = (change: (value: Readonly<Record<string, unknown>>) => unknown) => (result: unknown) => ({
  ...fields(result),
  value: change(fields(fields(result).value)),
})

const movedHead = (by: number): Lie =>
  ((call, reply) => {
    if (call.method === 'getSlot' && typeof reply.result === 'number')
      return { ...reply, result: Math.max(1, reply.result + by) }
    if (call.method !== 'getEpochInfo') return priced(PRICE)(call, reply)
    const { absoluteSlot, blockHeight } = fields(reply.result)
    return {
      ...reply,
      result: {
        ...fields(reply.result),
        absoluteSlot: Math.max(1, Number(absoluteSlot) + by),
        blockHeight: Math.max(1, Number(blockHeight) + by),
      },
    }
  }) satisfies Lie

const failed = (value: Readonly<Record<string, unknown>>) => ({
  ...value,
  err: { InstructionError: [0, { Custom: 1 }] },
})

const LIES: readonly (readonly [string, Habits])[] = [
  ['that priority costs 10,000 lamports per unit', { lie: priced(10_000_000_000) }],
  ['a head of the far future', { lie: movedHead(1_000_000_000) }],
  ['that nothing has happened for long', { lie: movedHead(-900) }],
  ['no money', { lie: lieAbout('getBalance', (result) => ({ ...fields(result), value: 0 })) }],
  ['a simulation that fails', { lie: lieAbout('simulateTransaction', valued(failed)) }],
  ['that it cannot simulate', refuse('simulateTransaction', { code: -32602, message: 'must include a tip' })],
  [
    'that each transaction takes 1,400,000 units',
    {
      lie: lieAbout(
        'simulateTransaction',
        valued((value) => ({ ...value, unitsConsumed: 1_400_000 })),
      ),
    },
  ],
  [
    'a blockhash of another chain',
    {
      lie: lieAbout(
        'getLatestBlockhash',
        valued((value) => ({ ...value, blockhash: addressOf('elsewhere') })),
      ),
    },
  ],
  [
    'that it would fail now',
    refuse('sendTransaction', {
      code: -32002,
      message: 'no',
      data: { err: { InstructionError: [0, { Custom: 1 }] } },
    }),
  ],
  [
    'that its signature is wrong',
    refuse('sendTransaction', { code: -32003, message: 'Transaction signature verification failure' }),
  ],
  [
    'that blocks are full',
    refuse('sendTransaction', { code: -32002, message: 'no', data: { err: 'WouldExceedMaxBlockCostLimit' } }),
  ],
]

describe.each([
  { endpoints: 3, name: 'one endpoint of three' },
  { endpoints: 2, name: 'one endpoint of two' },
])('$name that says', ({ endpoints }) => {
  let nodes: FaultyNode[]
  let story: SolanaScenario
  const clock = createAdjustableClock()

  beforeAll(async () => {
    const solana = await startSolana({ slotMs: 'manual', now: clock.now })
    solana.airdrop(MAIN, 10n * SOL)
    solana.airdrop(RECEIVER, SOL)
    nodes = await Promise.all(Array.from({ length: endpoints }, () => startFaultyNode(solana.url)))
    for (const node of nodes) node.habits = { lie: priced(PRICE) }
    const config = solanaConfig(solana, { urls: nodes.map(({ url }) => url) })
    story = solanaScenarioOf(solana, await startService({ ...config, clock }))
    solana.tick(5)
  }, 120_000)
  afterAll(async () => {
    await story.stop()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  test.each(LIES)(
    '%s neither raises what is paid, nor refuses or holds up a payment',
    async (name, habits) => {
      const [liar] = nodes
      if (liar === undefined) throw new Error('there is no node')
      liar.habits = habits
      onTestFinished(() => {
        liar.habits = { lie: priced(PRICE) }
      })
      const { id } = await story.send(transfer(7n, { speed: 'fastest' }))
      const { hash, attempts } = await story.tickUntil(id, 'confirmed')
      const { fee } = story.solana.included(hash ?? '') ?? { fee: 0n }
      expect(fee).toBeGreaterThanOrEqual(5_000n)
      // Of two endpoints the higher number of units counts, because a limit that is too low fails; the cap of one fee bounds it.
      expect(fee).toBeLessThanOrEqual(
        endpoints === 2 && name.endsWith('units') ? 1_000_000n : 2n * HONEST_FEE,
      )
      // Of two endpoints that name different blockhashes, the wrong one costs a life at most.
      expect(attempts?.length).toBeLessThanOrEqual(endpoints > 2 ? 1 : 3)
      const relayer = await story.service.api<{ system_disabled: boolean }>('GET', '/relayers/main')
      expect(relayer.body.data.system_disabled).toBe(false)
    },
  )
})
