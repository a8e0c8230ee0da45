import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startSolana } from '../../simulators/solana/start-solana.ts'
import { startLedger } from '../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../src/contract/operations.ts'
import { startAnvil } from '../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../support/clock.ts'
import { scenarioOf, startScenario } from '../support/scenario.ts'
import * as evm from '../support/service.ts'
import { type Story, sendBatch, startService, type Transaction } from '../support/service.ts'
import * as solana from '../support/solana-scenario.ts'
import * as stellar from '../support/stellar-scenario.ts'
import { until } from '../support/until.ts'

/** A service on a chain that makes blocks only when told. */
interface ChainStory extends Story {
  /** Makes blocks until the transaction has this status. */
  include(id: string, status: Transaction['status']): Promise<Transaction>
  /** The balance of the receiver, in the smallest unit. */
  received(): Promise<bigint>
  /** Gives the account of relayer `main` enough money for a payment. */
  fund(): unknown
  stop(): Promise<void>
}

interface ChainUnderTest {
  readonly name: string
  /** A request that pays the receiver this much. */
  pay(amount: number): object
  /** The number that orders transactions; Solana has none. */
  numberOf?(transaction: Transaction): string
  /** The contract of EVM requests allows null in fewer fields. */
  readonly nullTime: 'absent' | 'refused'
  /** The relayer of the configuration has money. */
  start(clock: AdjustableClock): Promise<ChainStory>
  /** The account of the relayer of the configuration has none. */
  startPoor(clock: AdjustableClock): Promise<ChainStory>
  /** The reason why the relayer without money is disabled. */
  readonly poor: string
}

function onEvm(story: Awaited<ReturnType<typeof startScenario>>): ChainStory {
  const balance = '0x56bc75e2d63100000'
  return {
    ...story,
    include: (id, status) => story.reach(id, status, () => void story.mine()),
    received: async () => BigInt(await story.anvil.rpc<string>('eth_getBalance', [evm.RECEIVER, 'latest'])),
    fund: () => story.anvil.rpc('anvil_setBalance', [evm.DEV_ADDRESSES[0], balance]),
  }
}

function onStellar(story: stellar.StellarScenario): ChainStory {
  return {
    ...story,
    include: story.closeUntil,
    received: async () => story.ledger.account(stellar.RECEIVER)?.balance ?? 0n,
    fund: () => story.ledger.fund(stellar.MAIN.publicKey(), 100n * stellar.XLM),
  }
}

function onSolana(story: solana.SolanaScenario): ChainStory {
  return {
    ...story,
    include: story.tickUntil,
    received: async () => story.solana.account(solana.RECEIVER)?.lamports ?? 0n,
    fund: () => story.solana.airdrop(solana.MAIN, solana.SOL),
  }
}

const CHAINS: readonly ChainUnderTest[] = [
  {
    name: 'EVM',
    pay: (value) => ({ to: evm.RECEIVER, value: String(value) }),
    numberOf: ({ nonce }) => String(nonce),
    nullTime: 'refused',
    start: async (clock) => onEvm(await startScenario({ clock })),
    startPoor: async (clock) => {
      const anvil = await startAnvil({ args: ['--no-mining'] })
      await anvil.rpc('anvil_setBalance', [evm.DEV_ADDRESSES[0], '0x0'])
      const policies = { min_balance: 1 }
      return onEvm(scenarioOf(anvil, await startService({ clock, rpcUrls: [anvil.url], policies })))
    },
    poor: 'The account can spend 0 wei; min_balance is 1.',
  },
  {
    name: 'Stellar',
    pay: stellar.payment,
    numberOf: ({ sequence_number }) => String(sequence_number),
    nullTime: 'absent',
    start: async (clock) => onStellar(await stellar.startStellarScenario({ clock })),
    startPoor: async (clock) => {
      const ledger = await startLedger({ closeEveryMs: 'manual', now: clock.now })
      ledger.fund(stellar.RECEIVER, 100n * stellar.XLM)
      const config = stellar.stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
      return onStellar(stellar.stellarScenarioOf(ledger, await startService({ clock, ...config })))
    },
    poor: 'The account can spend 0 stroops; min_balance is 1000000.',
  },
  {
    name: 'Solana',
    pay: (lamports) => solana.transfer(BigInt(lamports)),
    nullTime: 'absent',
    start: async (clock) => onSolana(await solana.startSolanaScenario({ clock })),
    startPoor: async (clock) => {
      const network = await startSolana({ slotMs: 'manual' })
      network.airdrop(solana.RECEIVER, solana.SOL)
      const config = solana.solanaConfig(network)
      return onSolana(solana.solanaScenarioOf(network, await startService({ clock, ...config })))
    },
    poor: 'The account can spend 0 lamports; min_balance is 10000000.',
  },
]

const HOUR_MS = 3_600_000

describe.each(CHAINS)('on $name', ({ pay, numberOf, nullTime, start, startPoor, poor }) => {
  let clock: AdjustableClock
  let story: ChainStory

  beforeAll(async () => {
    clock = createAdjustableClock()
    story = await start(clock)
  }, 120_000)
  afterAll(() => story.stop())

  test('each payment of a batch is made once, and the numbers follow its order', async () => {
    const before = await story.received()
    const { status, body } = await sendBatch(story.service, [pay(1), pay(20), pay(300)])
    expect(status).toBe(200)
    const ended: Transaction[] = []
    for (const { id } of body.data) ended.push(await story.include(id, 'confirmed'))
    expect(await story.received()).toBe(before + 321n)
    if (numberOf === undefined) return
    const [first = ''] = ended.map(numberOf)
    expect(ended.map(numberOf)).toEqual([0n, 1n, 2n].map((step) => String(BigInt(first) + step)))
  })

  test('a wrong item refuses the whole batch, and the error names the item', async () => {
    const before = await story.received()
    const { status, body } = await sendBatch(story.service, [pay(1), { ...pay(1), network: 5 }])
    expect([status, body.error]).toEqual([400, expect.stringContaining('body.transactions[1]')])
    expect(await story.received()).toBe(before)
  })

  test('a payment with a valid_from waits without a number for its time, and others overtake it', async () => {
    const valid_from = new Date(clock.now() + HOUR_MS).toISOString()
    const later = await story.send({ ...pay(5), valid_from })
    const now = await story.send(pay(6))
    await story.include(now.id, 'confirmed')
    const waiting = await story.get(later.id)
    expect(waiting).toMatchObject({ status: 'pending', valid_from, attempts: [] })
    expect([waiting.nonce, waiting.sequence_number]).toEqual([undefined, undefined])
    clock.advance(HOUR_MS)
    await story.include(later.id, 'confirmed')
  })

  test(`a valid_from of null is ${nullTime}`, async () => {
    const { status, body } = await story.post({ ...pay(7), valid_from: null })
    expect([status, body.error]).toEqual(
      nullTime === 'absent' ? [200, undefined] : [400, 'body.valid_from: expected a string.'],
    )
    if (nullTime === 'absent') await story.include(body.data.id, 'confirmed')
  })

  test('a relayer without money is disabled; with money it is restored, and sends', async () => {
    const ownClock = createAdjustableClock()
    const other = await startPoor(ownClock)
    onTestFinished(other.stop)
    const becomes = (disabled: boolean) =>
      until(
        async () => {
          ownClock.advance(5_000)
          const { body } = await other.service.api<Schemas['Relayer'][]>('GET', '/relayers')
          return body.data.find(({ id }) => id === 'main')
        },
        (relayer) => relayer?.system_disabled === disabled,
      )
    expect((await becomes(true))?.disabled_reason).toEqual({ type: 'BalanceCheckFailed', details: poor })
    expect((await other.post(pay(10))).body.code).toBe('relayer_disabled')
    await other.fund()
    await becomes(false)
    const { id } = await other.send(pay(10))
    await other.include(id, 'confirmed')
  })
})
