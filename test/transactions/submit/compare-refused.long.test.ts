import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { EvmPolicies, EvmRequest } from '../../../src/chains/evm/content.ts'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import type { EvmChain } from '../../../src/chains/evm/types.ts'
import type { EvmNetwork } from '../../../src/networks/network.ts'
import { noopIncludedReason, noopReason } from '../../../src/transactions/model/status-reasons.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../support/faulty-node.ts'
import { ACTOR } from '../../support/samples.ts'
import { acceptorOf, eventsOf, type Fixture, openFixture, reload } from '../fixture.ts'
import { SILENT_NETWORK } from '../stub-chain.ts'

let anvil: Anvil
let fixture: Fixture
let nodes: readonly [FaultyNode, FaultyNode]
beforeAll(async () => {
  ;[anvil, fixture] = await Promise.all([startAnvil({ args: ['--no-mining'] }), openFixture()])
  nodes = [await startFaultyNode(anvil.url), await startFaultyNode(anvil.url)]
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await Promise.all([anvil.stop(), fixture.close()])
})
// What is accepted is due at once, also for a clock that a test before this one has stopped.
beforeEach(() => fixture.clock.advance(60_000))

const STRANGE = 'the stars are not right'

type Sent = ReturnType<typeof parseTransaction>

/** Refuses the bytes that `isRefused` tells, in words that no one knows. */
const refusing = (isRefused: (sent: Sent) => boolean, message = STRANGE): Habits => ({
  refuse: ({ method, params }) =>
    method === 'eth_sendRawTransaction' && isRefused(parseTransaction(params?.[0] as Hex))
      ? { code: -32000, message }
      : undefined,
})

/** The content of requests here moves money, and a no-op does not. */
const isContent = ({ value = 0n }: Sent) => value > 0n
const CONTENT_REFUSED = refusing(isContent)
const ALL_REFUSED = refusing(() => true)

interface Scene {
  readonly request?: Partial<EvmRequest>
  readonly policies?: EvmPolicies
  readonly network?: Partial<EvmNetwork>
  readonly balance?: bigint
  /** Changes the chain that the account works with. */
  readonly chain?: (chain: EvmChain) => EvmChain
}

/** An account whose endpoints have these habits, and two transactions of it: the first is watched, the second waits behind it. */
async function setUp(
  { request = {}, policies, network = {}, balance = 10n ** 20n, chain }: Scene,
  ...habits: readonly Habits[]
) {
  for (const [index, node] of nodes.entries()) {
    node.habits = habits[index]
    node.fault = () => 'pass'
  }
  const rpcUrls = habits.map((_, index) => ({
    url: nodes[index]?.url ?? '',
    weight: index === 0 ? 100 : 1e-9,
  }))
  const full = { ...SILENT_NETWORK, rpcUrls, ...network }
  const clock = createHurriedClock(fixture.clock.now())
  const made = createEvmChain({ network: full, rpcTimeoutMs: 5_000, clock, log: fixture.context.log })
  const owner = await fixture.addAccount({
    chain: chain?.(made) ?? made,
    network: full,
    ...(policies && { policies }),
  })
  await anvil.rpc('anvil_setBalance', [owner.relayer.address, `0x${balance.toString(16)}`])
  const accept = acceptorOf(fixture.context)
  const { transaction } = await accept(owner.relayer, requestOf({ value: 1n, ...request }), ACTOR)
  const target = { runtime: owner.runtime, relayers: [owner.relayer], memory: createWatchMemory() }
  let passed = 0
  const pass = (ms: number) => {
    passed += ms
    fixture.clock.advance(ms)
    clock.advance(ms)
  }
  const step = async (afterMs: number) => {
    pass(afterMs)
    await workAccount(fixture.context, owner.relayer.id)
    return reload(fixture.context, transaction)
  }
  /** Steps each second until the transaction is as wanted; gives the seconds that it took. */
  const stepUntil = async (
    wanted: (seen: Awaited<ReturnType<typeof reload>>) => boolean,
    atMostSeconds = 300,
  ) => {
    const begun = passed
    for (let seconds = 0; seconds < atMostSeconds; seconds += 1)
      if (wanted(await step(1_000))) return (passed - begun) / 1_000
    const { transaction: last } = await reload(fixture.context, transaction)
    throw new Error(`after ${atMostSeconds} s it is ${last.status}: ${last.statusReason}`)
  }
  const look = async () => {
    pass(1_000)
    await watchNetwork(fixture.context, target)
    return reload(fixture.context, transaction)
  }
  /** Mines until the transaction is final; without steps, nothing is broadcast meanwhile. */
  const finish = async ({ steps = true } = {}) => {
    for (let round = 0; round < 6; round += 1) {
      await anvil.rpc('evm_mine')
      if (steps) await step(1_000)
      await look()
    }
    return reload(fixture.context, transaction)
  }
  const another = async () => (await accept(owner.relayer, requestOf({ value: 0n }), ACTOR)).transaction
  return { owner, step, stepUntil, look, finish, another, transaction }
}

const incidentsOf = async ({ id }: Transaction) =>
  (
    await fixture.context.db.selectFrom('events').select('type').where('transaction_id', '=', id).execute()
  ).flatMap(({ type }) => (type === 'transaction_update' ? [] : [type]))

const isAbandoned = ({ transaction }: { transaction: Transaction }) => transaction.purpose === 'abandon'
const REFUSED_FOR_GOOD = noopReason('refused', STRANGE)

describe('content that the node refuses in unknown words', () => {
  test('is compared with a no-op within three and a half minutes, and ends with the words of the node', async () => {
    const { stepUntil, finish, another, transaction } = await setUp({}, CONTENT_REFUSED)
    const next = await another()
    expect(await stepUntil(isAbandoned)).toBeLessThanOrEqual(210)
    const compared = await reload(fixture.context, transaction)
    expect(compared.transaction).toMatchObject({ status: 'submitted', statusReason: REFUSED_FOR_GOOD })
    expect(compared.attempts.at(-1)).toMatchObject({
      kind: 'abandon',
      outcome: 'broadcast',
      draft: { value: 0n },
    })
    expect((await finish()).transaction).toMatchObject({
      status: 'failed',
      statusReason: noopIncludedReason('refused', STRANGE),
    })
    expect((await reload(fixture.context, next)).transaction.status).toBe('confirmed')
    expect(await eventsOf(fixture.context, transaction)).toContain('failed')
    expect(await incidentsOf(transaction)).toEqual([])
  })

  test('is broadcast again ever more slowly until then, and priced and estimated again after half a minute', async () => {
    const { step, stepUntil, transaction } = await setUp({}, CONTENT_REFUSED)
    await step(0)
    const before = nodes[0].calls.get('eth_sendRawTransaction') ?? 0
    await stepUntil(
      ({ transaction: { statusReason = '' } }) => /priced and estimated again/.test(statusReason),
      40,
    )
    await stepUntil(isAbandoned)
    // Each refusal asks the endpoint a second time, in which it could have taken the bytes.
    expect((nodes[0].calls.get('eth_sendRawTransaction') ?? 0) - before).toBeLessThanOrEqual(45)
    const { attempts } = await reload(fixture.context, transaction)
    expect(attempts.map(({ kind }) => kind)).toEqual(['send', 'abandon'])
  })

  test('offers no more for the no-op than for the content, so that a pool that has the content keeps it', async () => {
    // The node takes the bytes and says so in unknown words.
    const lying: Habits = {
      lie: ({ method }, reply) => {
        if (method !== 'eth_sendRawTransaction' || /underpriced/.test(JSON.stringify(reply))) return reply
        const { result: _, ...rest } = reply
        return { ...rest, error: { code: -32000, message: STRANGE } }
      },
    }
    const { stepUntil, finish, transaction } = await setUp({}, lying)
    await stepUntil(({ attempts }) => attempts.some(({ kind }) => kind === 'abandon'))
    const { attempts, transaction: open } = await reload(fixture.context, transaction)
    expect(attempts.at(-1)).toMatchObject({ kind: 'abandon', outcome: 'refused', error: /underpriced/ })
    expect(open).toMatchObject({
      purpose: 'request',
      stuckSince: undefined,
      statusReason: /pool holds another/,
    })
    nodes[0].habits = undefined
    expect((await finish()).transaction).toMatchObject({ status: 'confirmed', statusReason: undefined })
  })

  test('is taken after all when its new price or gas suits the node', async () => {
    const suiting: Habits = {
      ...refusing(({ gas = 0n }) => gas < 60_000n),
      lie: ({ method }, reply) => (method === 'eth_estimateGas' ? { ...reply, result: '0xffff' } : reply),
    }
    const { step, stepUntil, finish } = await setUp(
      {},
      refusing(({ gas = 0n }) => gas < 60_000n),
    )
    await step(0)
    nodes[0].habits = suiting
    expect(await stepUntil(({ transaction: { status } }) => status === 'submitted')).toBeLessThanOrEqual(40)
    const { transaction, attempts } = await finish()
    expect(transaction.status).toBe('confirmed')
    expect(attempts.map(({ kind }) => kind)).toEqual(['send', 'send'])
  })

  test('of which the caller named everything is only compared: nothing of it can be changed', async () => {
    const named = { gasLimit: 30_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
    const { stepUntil, transaction } = await setUp({ request: named }, CONTENT_REFUSED)
    expect(await stepUntil(isAbandoned)).toBeLessThanOrEqual(180)
    expect(await eventsOf(fixture.context, transaction)).toEqual(['pending', 'sent', 'sent', 'submitted'])
  })

  test('waits for money where money is missing, and is confirmed when it comes', async () => {
    const poor = 10n ** 17n
    const { owner, step, stepUntil, finish } = await setUp(
      { request: { value: poor }, balance: 2n * poor },
      CONTENT_REFUSED,
    )
    await step(0)
    await anvil.rpc('anvil_setBalance', [owner.relayer.address, `0x${poor.toString(16)}`])
    await stepUntil(({ transaction: { statusReason = '' } }) =>
      /^Waiting for funds: .*stars/.test(statusReason),
    )
    for (let seconds = 0; seconds < 600; seconds += 30)
      expect((await step(30_000)).transaction).toMatchObject({ status: 'sent', purpose: 'request' })
    await anvil.rpc('anvil_setBalance', [owner.relayer.address, `0x${(3n * poor).toString(16)}`])
    nodes[0].habits = undefined
    await step(30_000)
    expect((await finish()).transaction.status).toBe('confirmed')
  })

  test('waits behind another nonce without any comparison', async () => {
    const { owner, step, stepUntil, another } = await setUp(
      {},
      refusing(({ nonce = 0 }) => nonce > 0),
    )
    const next = await another()
    await step(0)
    await stepUntil(({ transaction: { status } }) => status === 'submitted', 5)
    for (let seconds = 0; seconds < 600; seconds += 15) await step(15_000)
    const item = await reload(fixture.context, next)
    expect(item.transaction).toMatchObject({ status: 'sent', purpose: 'request', nonce: 1n })
    expect(item.attempts.map(({ kind }) => kind)).not.toContain('abandon')
    expect(owner.relayer.id).toBe(item.transaction.relayerId)
  })
})

describe('a node that refuses everything in unknown words', () => {
  test('ends nothing: the transaction waits, and the reason, an event and the log tell it', async () => {
    const { step, stepUntil, finish, transaction } = await setUp({}, ALL_REFUSED)
    await stepUntil(({ transaction: { stuckSince } }) => stuckSince !== undefined, 210)
    const told = await reload(fixture.context, transaction)
    expect(told.transaction).toMatchObject({
      status: 'sent',
      purpose: 'request',
      currentAttempt: 1,
      statusReason: `The nodes refuse everything with its nonce, including a no-op (${STRANGE}); the service keeps trying. Their reply: ${STRANGE}`,
    })
    expect(await incidentsOf(transaction)).toEqual(['transaction_stuck'])
    expect(fixture.logLines.at(-1)).toMatchObject({
      incident: 'transaction_stuck',
      transaction: transaction.id,
    })
    // After this many refusals more, the content is compared once more.
    for (let refusals = 0; refusals < 50; refusals += 1) await step(30_000)
    const later = await reload(fixture.context, transaction)
    expect(later.transaction).toMatchObject({ status: 'sent', purpose: 'request' })
    expect(later.attempts.length).toBeLessThanOrEqual(4)
    expect(
      later.attempts.reduce((sum, one) => sum + (one.kind === 'abandon' ? (one.refusals ?? 0) : 0), 0),
    ).toBe(2)
    expect(await incidentsOf(transaction)).toEqual(['transaction_stuck'])
    nodes[0].habits = undefined
    await step(30_000)
    expect((await finish()).transaction).toMatchObject({ status: 'confirmed', statusReason: undefined })
    // Hundreds of steps, each with a node's answers over HTTP.
  }, 180_000)

  test('refuses a cancellation as well, which is told', async () => {
    const { owner, stepUntil, step, transaction } = await setUp({}, ALL_REFUSED)
    await step(0)
    await createReplacer(fixture.context).cancel({
      relayer: owner.relayer,
      id: transaction.id,
      actor: ACTOR,
      action: 'cancelTransaction',
    })
    await stepUntil(({ transaction: { stuckSince } }) => stuckSince !== undefined, 210)
    expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
      purpose: 'cancel',
      status: 'sent',
    })
    expect(await incidentsOf(transaction)).toEqual(['transaction_stuck'])
  })
})

test('a replacement that nodes refuse in unknown words is given up for the earlier version that a node has taken', async () => {
  const { owner, step, stepUntil, finish, transaction } = await setUp(
    {},
    refusing(({ value = 0n }) => value > 1n),
  )
  expect((await step(0)).transaction.status).toBe('submitted')
  await createReplacer(fixture.context).replace({
    relayer: owner.relayer,
    id: transaction.id,
    request: requestOf({ value: 2n }),
    actor: ACTOR,
  })
  await stepUntil(
    ({ transaction: { statusReason = '' } }) => /attempt 1 still counts/.test(statusReason),
    180,
  )
  const { attempts } = await reload(fixture.context, transaction)
  expect(attempts.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
    'send broadcast',
    'replace refused',
  ])
  expect((await finish()).transaction).toMatchObject({
    status: 'confirmed',
    currentAttempt: 1,
    statusReason: `Attempt 2 was refused by the node (${STRANGE}); attempt 1 was included.`,
  })
})

describe('private endpoints that refuse the content', () => {
  const scene = (policies: EvmPolicies) => ({
    policies: { privateTransactions: true, ...policies },
    network: { privateRpcUrls: [{ url: nodes[1].url, method: 'eth_sendRawTransaction' as const }] },
  })

  test('show by a no-op that they do not refuse everything', async () => {
    const { step, stepUntil, finish } = await setUp(scene({}), {})
    nodes[1].habits = refusing(isContent, 'execution reverted: not yours')
    await step(0)
    expect(await stepUntil(isAbandoned)).toBeLessThanOrEqual(210)
    const { transaction, attempts } = await finish()
    // A transfer to oneself would be a command of Flashbots Protect.
    expect(attempts.at(-1)?.draft).toMatchObject({ to: `0x${'0'.repeat(40)}`, value: 0n })
    expect(transaction).toMatchObject({
      status: 'failed',
      statusReason: /^The node refused it permanently \(private endpoint .*execution reverted: not yours\)/,
    })
  })

  test('end nothing where the ordinary ones get it later', async () => {
    const { step, transaction } = await setUp(scene({ privateFallbackBlocks: 500 }), {})
    nodes[1].habits = CONTENT_REFUSED
    for (let seconds = 0; seconds < 600; seconds += 15) await step(15_000)
    const { attempts, transaction: open } = await reload(fixture.context, transaction)
    expect(open).toMatchObject({ status: 'sent', purpose: 'request' })
    expect(attempts.map(({ kind }) => kind)).not.toContain('abandon')
  })
})

test('a node that works again just when content is compared takes the content, which comes first', async () => {
  const { stepUntil, finish } = await setUp({}, ALL_REFUSED)
  let isUp = false
  nodes[0].fault = (methods) => {
    isUp ||= methods.join() === 'eth_sendRawTransaction,eth_sendRawTransaction'
    return 'pass'
  }
  nodes[0].habits = refusing(() => !isUp)
  expect(await stepUntil(({ transaction: { status } }) => status === 'submitted')).toBeLessThanOrEqual(210)
  const { transaction, attempts } = await finish()
  expect(transaction.status).toBe('confirmed')
  expect(attempts.at(-1)).toMatchObject({
    kind: 'abandon',
    outcome: 'refused',
    error: 'a node now accepts the content',
  })
})

describe('content that one of several endpoints refuses', () => {
  test('needs no comparison when another one takes it', async () => {
    const { step } = await setUp({}, CONTENT_REFUSED, {})
    expect((await step(0)).transaction.status).toBe('submitted')
  })

  test('is not at fault when another one answers in known words', async () => {
    const { step, transaction } = await setUp({}, CONTENT_REFUSED, refusing(isContent, 'txpool is full'))
    for (let seconds = 0; seconds < 900; seconds += 15) await step(15_000)
    expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
      status: 'sent',
      purpose: 'request',
    })
    nodes[1].habits = undefined
    expect((await step(15_000)).transaction.status).toBe('submitted')
  })

  test('is compared after ten minutes when another one, which may take it, is silent', async () => {
    const { step, stepUntil, transaction } = await setUp({}, CONTENT_REFUSED, {})
    nodes[1].fault = () => 'http_500'
    await step(0)
    for (let seconds = 0; seconds < 500; seconds += 15) await step(15_000)
    expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
      status: 'sent',
      purpose: 'request',
    })
    expect(await stepUntil(isAbandoned)).toBeLessThanOrEqual(110)
  })
})

describe('a crash', () => {
  test('between the no-op and its broadcast changes nothing: the next step broadcasts it', async () => {
    let isDying = true
    const dying = (chain: EvmChain): EvmChain => ({
      ...chain,
      broadcast: (raws) => {
        const isNoop = raws.some(
          (raw) => !isContent(parseTransaction(`0x${Buffer.from(raw).toString('hex')}`)),
        )
        if (isNoop && isDying) throw new Error('the process dies here')
        return chain.broadcast(raws)
      },
    })
    const { step, stepUntil, finish, transaction } = await setUp({ chain: dying }, CONTENT_REFUSED)
    await expect(stepUntil(isAbandoned)).rejects.toThrow('dies here')
    const stored = await reload(fixture.context, transaction)
    expect(stored.transaction).toMatchObject({
      status: 'sent',
      purpose: 'request',
      currentAttempt: stored.attempts.length,
    })
    expect(stored.attempts.at(-1)).toMatchObject({ kind: 'abandon', outcome: 'signed' })
    isDying = false
    expect((await step(1_000)).transaction).toMatchObject({ purpose: 'abandon', status: 'submitted' })
    expect((await finish()).transaction).toMatchObject({
      status: 'failed',
      statusReason: noopIncludedReason('refused', STRANGE),
    })
  })

  test('between the acceptance of the no-op and its record lets a block with it end the transaction', async () => {
    const { step, stepUntil, finish } = await setUp({}, CONTENT_REFUSED)
    await step(0)
    // The replies to no-ops are lost.
    nodes[0].habits = {
      ...CONTENT_REFUSED,
      lie: ({ method, params }, reply) =>
        method === 'eth_sendRawTransaction' && !isContent(parseTransaction(params?.[0] as Hex))
          ? { id: 'nobody' }
          : reply,
    }
    await stepUntil(({ attempts }) => attempts.some(({ kind }) => kind === 'abandon'))
    const { transaction, attempts } = await finish({ steps: false })
    expect(attempts.at(-1)).toMatchObject({ kind: 'abandon', outcome: 'mined' })
    expect(transaction).toMatchObject({
      status: 'failed',
      statusReason: noopIncludedReason('refused', STRANGE),
    })
  })

  test('without a known sender: the refused bytes count when a third party gets them into a block, and the record says so', async () => {
    const { stepUntil, finish, transaction } = await setUp({}, CONTENT_REFUSED)
    await stepUntil(isAbandoned)
    const { attempts } = await reload(fixture.context, transaction)
    await anvil.rpc('anvil_dropTransaction', [attempts.at(-1)?.signed.hash])
    const [first] = attempts
    await anvil.rpc('eth_sendRawTransaction', [`0x${Buffer.from(first?.signed.raw ?? []).toString('hex')}`])
    await anvil.rpc('evm_mine')
    const ended = await finish()
    expect(ended.transaction).toMatchObject({
      status: 'confirmed',
      statusReason: /^Attempt 1 was included before the no-op \(attempt \d\), which has lost\.$/,
    })
  })
})
