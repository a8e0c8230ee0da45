import { type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { EvmPolicies, EvmRequest } from '../../src/chains/evm/content.ts'
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts'
import { SETTLE_MS } from '../../src/chains/simulations.ts'
import type { RpcUrl } from '../../src/networks/network.ts'
import type { Transaction } from '../../src/transactions/model/transaction.ts'
import { workAccount } from '../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../src/transactions/watch/watch-round.ts'
import { requestOf } from '../chains/evm/build.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { createHurriedClock } from '../support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../support/faulty-node.ts'
import { ACTOR } from '../support/samples.ts'
import { acceptorOf, type Fixture, openFixture, reload } from './fixture.ts'
import { signOutside } from './sign-outside.ts'
import { SILENT_NETWORK } from './stub-chain.ts'

const GWEI = 1_000_000_000n

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

const mine = async (blocks = 1) => {
  for (let count = 0; count < blocks; count += 1) await anvil.rpc('evm_mine')
}

type Refuse = NonNullable<Habits['refuse']>

/** Refuses what `words` has words for. */
const refusing =
  (words: (answerBroadcast: ReturnType<typeof parseTransaction>) => string | undefined): Refuse =>
  ({ method, params }) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const message = words(parseTransaction(params?.[0] as Hex))
    return message === undefined ? undefined : { code: -32000, message }
  }

/** An account with money, whose endpoints have these habits, and what happens to one transaction of it. */
function setUp(request: Partial<EvmRequest>, ...habits: readonly Habits[]) {
  for (const [index, node] of nodes.entries()) {
    node.habits = habits[index]
    node.pruning = undefined
  }
  const rpcUrls = habits.map((_, index) => ({
    url: nodes[index]?.url ?? '',
    weight: index === 0 ? 100 : 1e-9,
  }))
  return setUpAt(rpcUrls, request, { anvil })
}

interface Place {
  readonly anvil: Anvil
  readonly policies?: EvmPolicies
  readonly chainId?: number
}

/** The same at these endpoints. */
async function setUpAt(
  rpcUrls: readonly RpcUrl[],
  request: Partial<EvmRequest>,
  { anvil: chainNode, policies = {}, chainId = SILENT_NETWORK.chainId }: Place,
) {
  const network = { ...SILENT_NETWORK, chainId, rpcUrls }
  const clock = createHurriedClock(fixture.clock.now())
  const chain = createEvmChain({ network, rpcTimeoutMs: 5_000, clock, log: fixture.context.log })
  const owner = await fixture.addAccount({ chain, network, policies: { sharedAccount: true, ...policies } })
  await chainNode.rpc('anvil_setBalance', [owner.relayer.address, `0x${(10n ** 20n).toString(16)}`])
  const { transaction } = await acceptorOf(fixture.context)(owner.relayer, requestOf(request), ACTOR)
  const target = { runtime: owner.runtime, relayers: [owner.relayer], memory: createWatchMemory() }
  const passed = (ms: number) => {
    fixture.clock.advance(ms)
    clock.advance(ms)
  }
  const step = async (afterMs = 1_000) => {
    passed(afterMs)
    await workAccount(fixture.context, owner.relayer.id)
    return reload(fixture.context, transaction)
  }
  const look = async (afterMs: number) => {
    passed(afterMs)
    await watchNetwork(fixture.context, target)
    return (await reload(fixture.context, transaction)).transaction
  }
  return { step, look, transaction, owner }
}

const stateOf = ({ status, statusReason }: Transaction) => `${status}: ${statusReason ?? ''}`

const minimum = 40n * GWEI
const poolOfTip = (least: bigint) =>
  refusing(({ maxPriorityFeePerGas: tip = 0n }) =>
    tip < least ? `transaction underpriced: gas tip cap ${tip}, minimum needed ${least}` : undefined,
  )

/** What the caller names. */
const own = { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: GWEI }

const BOTH =
  /minimum needed 40000000000; it offers max_fee_per_gas 20000000000 and max_priority_fee_per_gas 1000000000/

describe('a pool that takes no tip below a minimum', () => {
  test('gets the same nonce at its price', async () => {
    const { step } = await setUp({ speed: 'fast' }, { refuse: poolOfTip(minimum) })
    expect(stateOf((await step()).transaction)).toMatch(
      /^pending: The network requires a higher fee: .*minimum needed/,
    )
    const { transaction, attempts } = await step(5_000)
    expect(transaction).toMatchObject({ status: 'submitted', nonce: 0n })
    expect(attempts.map(({ kind, outcome, nonce }) => `${kind} ${outcome} ${nonce}`)).toEqual([
      'send refused 0',
      'send broadcast 0',
    ])
    expect(attempts[1]?.draft).toMatchObject({ fees: { maxPriorityFeePerGas: minimum } })
  })

  test('never changes the price of a caller, and says so', async () => {
    const { step } = await setUp(own, { refuse: poolOfTip(minimum) })
    expect(stateOf((await step()).transaction)).toMatch(/^sent: .*the caller set its price.*minimum/)
    nodes[0].habits = undefined
    const { transaction, attempts } = await step(5_000)
    expect(transaction.status).toBe('submitted')
    expect(attempts).toHaveLength(1)
  })

  test('is offered the price of the caller as long as nothing waits behind it', async () => {
    const { step } = await setUp(own, { refuse: poolOfTip(minimum) })
    for (let seconds = 0; seconds < 300; seconds += 5) await step(5_000)
    const { transaction, attempts } = await step(5_000)
    expect([transaction.status, transaction.purpose, attempts.length]).toEqual(['sent', 'request', 1])
    nodes[0].habits = undefined
    expect((await step(5_000)).transaction.status).toBe('submitted')
  })

  test('has its minimum compared with the next price that a caller names: nothing is signed, and others overtake', async () => {
    const { step, owner } = await setUp({ speed: 'fast' }, { refuse: poolOfTip(minimum) })
    await step()
    await step(5_000)
    const accept = acceptorOf(fixture.context)
    const { transaction } = await accept(owner.relayer, requestOf(own), ACTOR)
    expect(transaction).toMatchObject({
      awaitsPrice: true,
      statusReason: expect.stringMatching(
        /^Waiting for its price: it offers a tip of 1000000000 wei per gas, and the nodes require at least 40000000000\./,
      ),
    })
    for (let seconds = 0; seconds < 300; seconds += 10) await step(10_000)
    expect(await reload(fixture.context, transaction)).toMatchObject({
      transaction: { status: 'pending', awaitsPrice: true },
      attempts: [],
    })
    nodes[0].habits = undefined
    for (let minutes = 0; minutes < 61; minutes += 1) await step(60_000)
    expect((await reload(fixture.context, transaction)).transaction.status).toBe('submitted')
  })

  test('is passed by where another endpoint has another pool', async () => {
    const { step } = await setUp({ speed: 'fast' }, { refuse: poolOfTip(minimum) }, {})
    const { transaction, attempts } = await step()
    expect([transaction.status, attempts.length]).toEqual(['submitted', 1])
  })
})

describe('a chain whose blocks know no tips', () => {
  let free: Anvil
  let node: FaultyNode
  beforeAll(async () => {
    free = await startAnvil({ args: ['--no-mining', '--block-base-fee-per-gas', '0'] })
    node = await startFaultyNode(free.url)
  })
  afterAll(async () => {
    await node.stop()
    await free.stop()
  })

  const telling =
    (gasPrice: bigint): NonNullable<Habits['lie']> =>
    ({ method }, reply) => {
      if (method === 'eth_gasPrice') return { ...reply, result: `0x${gasPrice.toString(16)}` }
      if (method === 'eth_maxPriorityFeePerGas') return { ...reply, result: '0x0' }
      return method === 'eth_feeHistory'
        ? { ...reply, result: { baseFeePerGas: ['0x0', '0x0'], reward: [['0x0', '0x0', '0x0', '0x0']] } }
        : reply
    }

  const poolOf = (least: bigint) =>
    refusing(({ maxPriorityFeePerGas: tip = 0n }) => (tip < least ? 'transaction underpriced' : undefined))

  const setUpOn = (habits: Habits, policies = {}) => {
    node.habits = habits
    return setUpAt([{ url: node.url, weight: 100 }], { speed: 'safeLow' }, { anvil: free, policies })
  }

  test('is offered what eth_gasPrice suggests', async () => {
    const suggested = (15n * GWEI) / 10n
    const { step } = await setUpOn({ lie: telling(suggested), refuse: poolOf(suggested) })
    const { transaction, attempts } = await step()
    expect(transaction.status).toBe('submitted')
    expect(attempts[0]?.draft).toMatchObject({ fees: { maxPriorityFeePerGas: suggested } })
  })

  test('is offered more and more from zero where no source names a price, until a pool takes it', async () => {
    const { step } = await setUpOn({ lie: telling(0n), refuse: poolOf((15n * GWEI) / 10n) })
    let { transaction, attempts } = await step()
    expect(attempts[0]?.draft).toMatchObject({ fees: { maxPriorityFeePerGas: 0n } })
    for (let waited = 0; waited < 120 && transaction.status !== 'submitted'; waited += 5)
      ({ transaction, attempts } = await step(5_000))
    expect(transaction).toMatchObject({ status: 'submitted', nonce: 0n })
    const draft = attempts.at(-1)?.draft
    const tip = draft?.type === 'evm' && draft.fees.kind === 'eip1559' ? draft.fees.maxPriorityFeePerGas : 0n
    expect(tip).toBeGreaterThanOrEqual((15n * GWEI) / 10n)
    expect(tip).toBeLessThan(3n * GWEI + GWEI / 2n)
  })

  test('is offered no more than the limit, whatever the pool says, and waits with its words', async () => {
    const { step } = await setUpOn({ lie: telling(0n), refuse: poolOf(10n ** 18n) })
    let { transaction, attempts } = await step()
    for (let waited = 0; waited < 1_500; waited += 10) ({ transaction, attempts } = await step(10_000))
    const tips = attempts.map(({ draft }) =>
      draft.type === 'evm' && draft.fees.kind === 'eip1559' ? draft.fees.maxPriorityFeePerGas : 0n,
    )
    expect(tips.at(-1)).toBeLessThanOrEqual(5n * GWEI)
    expect(tips).toContain(5n * GWEI)
    // At the limit the same bytes are offered again.
    expect(attempts.length).toBeLessThan(12)
    expect(stateOf(transaction)).toMatch(/requires a higher fee: transaction underpriced/)
    node.habits = { lie: telling(0n) }
    for (let waited = 0; waited < 200 && transaction.status !== 'submitted'; waited += 10)
      ({ transaction } = await step(10_000))
    expect(transaction.status).toBe('submitted')
  })
})

describe('Linea, whose pool demands a tip that grows with the data', () => {
  const CHAIN_ID = 59_144
  const demanded = 9n * GWEI
  let linea: Anvil
  let node: FaultyNode
  beforeAll(async () => {
    linea = await startAnvil({ args: ['--no-mining', '--chain-id', String(CHAIN_ID)] })
    node = await startFaultyNode(linea.url)
  })
  afterAll(async () => {
    await node.stop()
    await linea.stop()
  })

  const profitable = refusing(({ maxPriorityFeePerGas: tip = 0n }) =>
    tip < demanded ? 'Gas price too low' : undefined,
  )
  const quoting: NonNullable<Habits['lie']> = ({ id, method }, reply) =>
    method === 'linea_estimateGas'
      ? {
          jsonrpc: '2.0',
          id,
          result: {
            baseFeePerGas: '0x7',
            gasLimit: '0x5208',
            priorityFeePerGas: `0x${demanded.toString(16)}`,
          },
        }
      : reply

  const send = (habits: Habits) => {
    node.habits = habits
    const place = { anvil: linea, chainId: CHAIN_ID }
    return setUpAt(
      [{ url: node.url, weight: 100 }],
      { speed: 'fast', data: `0x${'11'.repeat(2_000)}` },
      place,
    )
  }

  test('gets its price immediately, from linea_estimateGas', async () => {
    const { step } = await send({ refuse: profitable, lie: quoting })
    const { transaction, attempts } = await step()
    expect([transaction.status, attempts.length]).toEqual(['submitted', 1])
    expect(attempts[0]?.draft).toMatchObject({ fees: { maxPriorityFeePerGas: demanded } })
  })

  test('gets the market price of a node without that method, and guesses after the refusal', async () => {
    const { step } = await send({ refuse: profitable })
    const { transaction } = await step()
    expect(stateOf(transaction)).toMatch(/^pending: The network requires a higher fee: .*Gas price too low/)
    let { status } = transaction
    for (let waited = 0; waited < 60 && status !== 'submitted'; waited += 5)
      ({ status } = (await step(5_000)).transaction)
    expect(status).toBe('submitted')
  })
})

describe("an endpoint's cap of the whole fee (--rpc.txfeecap)", () => {
  /** In wei; geth's own words have two decimals only. */
  const capOf = (most: bigint) =>
    refusing(({ gas = 0n, maxFeePerGas = 0n }) =>
      gas * maxFeePerGas > most ? 'tx fee (9.99 ether) exceeds the configured cap (0.00 ether)' : undefined,
    )

  test('lowers the price for the same nonce, as long as the market allows', async () => {
    // The market asks for 1.5 times 2 gwei and a tip; half of that is above the base fee.
    const gasLimit = 30_000n
    const { step } = await setUp({ speed: 'fast', gasLimit }, { refuse: capOf(gasLimit * 3n * GWEI) })
    expect(stateOf((await step()).transaction)).toMatch(/^pending: No endpoint accepts a fee this high/)
    const { transaction, attempts } = await step(5_000)
    expect(transaction).toMatchObject({ status: 'submitted', nonce: 0n })
    expect(attempts).toHaveLength(2)
  })

  test('waits where the market asks for more, with the numbers', async () => {
    const gasLimit = 30_000n
    const { step } = await setUp({ speed: 'fast', gasLimit }, { refuse: capOf(1n) })
    await step()
    let { transaction } = await step(5_000)
    for (
      let tries = 0;
      tries < 8 && transaction.status === 'pending' && !/txfeecap/.test(transaction.statusReason ?? '');
      tries += 1
    )
      ({ transaction } = await step(5_000))
    expect(stateOf(transaction)).toMatch(
      /^pending: Waiting: no endpoint accepts .*--rpc.txfeecap.*at least \d+ wei/,
    )
    nodes[0].habits = undefined
    // What an endpoint said of its cap is forgotten after a while.
    expect((await step(60_000)).transaction.status).toBe('submitted')
  })
})

describe('a gas limit that the node refuses', () => {
  const demanding = (least: bigint) =>
    refusing(({ gas = 0n }) =>
      gas < least ? `intrinsic gas too low: gas ${gas}, minimum needed ${least}` : undefined,
    )

  test('that was estimated is estimated again for the same nonce, after a second block and 30 seconds', async () => {
    const { step } = await setUp({ speed: 'fast' }, { refuse: demanding(1_000_000n) })
    expect(stateOf((await step()).transaction)).toMatch(/^sent: .*second opinion/)
    await mine()
    expect(stateOf((await step(SETTLE_MS)).transaction)).toMatch(/^pending: Its gas is estimated again/)
    nodes[0].habits = undefined
    const { transaction, attempts } = await step()
    expect(transaction).toMatchObject({ status: 'submitted', purpose: 'request', nonce: 0n })
    expect(new Set(attempts.map(({ nonce }) => nonce))).toEqual(new Set([0n]))
  })
})

describe('a permanent refusal by one endpoint', () => {
  const refuse = refusing(() => 'transaction type not supported')

  test('changes nothing when another one takes the bytes', async () => {
    const { step } = await setUp({ speed: 'fast' }, { refuse }, {})
    const { transaction, attempts } = await step()
    expect(transaction.status).toBe('submitted')
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['broadcast'])
  })

  test('gives the nonce to a no-op when another one at the head refuses as well', async () => {
    const { step } = await setUp({ speed: 'fast' }, { refuse }, { refuse })
    expect((await step()).transaction).toMatchObject({ status: 'pending', purpose: 'abandon', nonce: 0n })
  })

  test('lets the bytes wait when the other one that refuses is behind', async () => {
    await mine(3)
    const { step } = await setUp({ speed: 'fast' }, { refuse }, { refuse, behind: 2 })
    for (const _ of [1, 2, 3])
      expect((await step()).transaction).toMatchObject({ status: 'sent', purpose: 'request' })
    nodes[0].habits = undefined
    expect((await step()).transaction.status).toBe('submitted')
  })

  test('is believed only a block and 30 seconds later when there is no other endpoint', async () => {
    const { step } = await setUp({ speed: 'fast' }, { refuse })
    for (const _ of [1, 2])
      expect((await step()).transaction).toMatchObject({ status: 'sent', purpose: 'request' })
    await mine(20)
    expect((await step()).transaction).toMatchObject({ status: 'sent', purpose: 'request' })
    expect((await step(SETTLE_MS)).transaction).toMatchObject({ purpose: 'abandon', nonce: 0n })
  })
})

test('a nonce that another program used is proved by its block when receipts are errors of the endpoint', async () => {
  const { step, look, owner } = await setUp({ speed: 'safeLow' }, {})
  const { attempts } = await step()
  await anvil.rpc('anvil_dropTransaction', [attempts[0]?.signed.hash])
  await anvil.rpc('eth_sendRawTransaction', [await signOutside(owner, 0n)])
  const gone = { code: 4444, message: 'pruned history unavailable' }
  nodes[0].habits = {
    refuse: ({ method }) => (/Receipt|TransactionByHash/.test(method ?? '') ? gone : undefined),
  }
  await mine()
  expect(await look(31_000)).toMatchObject({ status: 'submitted', nonce: 0n })
  await mine(3)
  expect(await look(31_000)).toMatchObject({ status: 'pending', nonce: undefined })
})

describe('a transaction that was mined during an outage, at an endpoint that has pruned its receipt', () => {
  test.each([
    { name: 'with its transaction', of: 'transactionsBelow' },
    { name: 'alone', of: 'receiptsBelow' },
  ] as const)('is never executed again, with the receipt pruned $name', async ({ of }) => {
    const { step, look } = await setUp({ speed: 'safeLow' }, {})
    await step()
    await mine()
    nodes[0].pruning = { [of]: Number(await anvil.rpc<string>('eth_blockNumber')) + 1 }
    for (let round = 0; round < 6; round += 1) {
      await mine(2)
      expect(await look(31_000)).toMatchObject({ status: 'submitted', nonce: 0n })
      expect((await step()).attempts).toHaveLength(1)
    }
    nodes[0].pruning = undefined
    await mine()
    expect(await look(1_000)).toMatchObject({ status: 'mined' })
  })
})

// Last, because its blocks bring the base fee down, and with it the market of the others.
test('a pool does not hold others behind what it refuses at the price of the caller: a no-op takes the nonce', async () => {
  const { step, look, owner } = await setUp(own, { refuse: poolOfTip(minimum) })
  expect(stateOf((await step()).transaction)).toMatch(BOTH)
  const accept = acceptorOf(fixture.context)
  const { transaction: next } = await accept(owner.relayer, requestOf({ speed: 'fast' }), ACTOR)
  for (let seconds = 0; seconds < 115; seconds += 5) await step(5_000)
  expect((await step(0)).transaction).toMatchObject({ status: 'sent', purpose: 'request' })
  for (let seconds = 0; seconds < 15; seconds += 5) await step(5_000)
  const { transaction, attempts } = await step(5_000)
  expect(transaction).toMatchObject({ status: 'submitted', purpose: 'abandon', nonce: 0n })
  expect(attempts.map(({ kind, outcome, nonce }) => `${kind} ${outcome} ${nonce}`)).toEqual([
    'send refused 0',
    'abandon broadcast 0',
  ])
  await mine(12)
  await look(30_000)
  const ended = await look(30_000)
  expect(ended.status).toBe('failed')
  expect(ended.statusReason).toMatch(/^No endpoint accepted the price set by its caller/)
  expect(ended.statusReason).toMatch(BOTH)
  expect((await reload(fixture.context, next)).transaction).toMatchObject({
    status: 'confirmed',
    nonce: 1n,
  })
})

test('a transaction that ends because its price holds up others keeps saying so, whatever a node says of the no-op', async () => {
  // It takes the no-op, and says of it what it says after a block has included it.
  const lie: NonNullable<Habits['lie']> = ({ id, method }, reply) =>
    method === 'eth_sendRawTransaction' && reply?.result !== undefined
      ? { jsonrpc: '2.0', id, error: { code: -32000, message: 'nonce too low' } }
      : reply
  const { step, look, owner } = await setUp(own, { refuse: poolOfTip(minimum), lie })
  await step()
  const { transaction: behind } = await acceptorOf(fixture.context)(
    owner.relayer,
    requestOf({ speed: 'fast' }),
    ACTOR,
  )
  for (let seconds = 0; seconds < 115; seconds += 5)
    expect((await step(5_000)).transaction).toMatchObject({ status: 'sent', purpose: 'request' })
  const cause =
    /^sent: (No endpoint accepted the price .*; a no-op )will use its nonce\. The chain has passed this nonce; .*: nonce too low$/
  const priced = (await step(10_000)).transaction
  expect(stateOf(priced)).toMatch(cause)
  const [, sentence = ''] = cause.exec(stateOf(priced)) ?? []
  await mine()
  const included = await look(1_000)
  expect(stateOf(included)).toBe(`mined: ${sentence}used its nonce.`)
  expect((await reload(fixture.context, behind)).transaction.status).toBe('mined')
})
