import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts'
import { presentWithAttempts } from '../../src/handlers/present/transaction.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { EvmRelayerConfig } from '../../src/relayers/relayer.ts'
import type { Transaction } from '../../src/transactions/model/transaction.ts'
import { workAccount } from '../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../src/transactions/watch/watch-round.ts'
import { requestOf } from '../chains/evm/build.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { ACTOR } from '../support/samples.ts'
import { acceptorOf, eventsOf, type Fixture, openFixture, reload, type TestAccount } from './fixture.ts'
import { signOutside } from './sign-outside.ts'
import { SILENT_NETWORK } from './stub-chain.ts'

const REVERTING = '0x00000000000000000000000000000000000000aa'
const GAS_PRICE = 10_000_000_000n
/** A plain transfer with its own price costs exactly this, besides its value. */
const TRANSFER_GAS = 21_000n
const TRANSFER = requestOf({ value: 1_000n, gasLimit: TRANSFER_GAS, gasPrice: GAS_PRICE })
const TRANSFER_COST = 1_000n + TRANSFER_GAS * GAS_PRICE

/** Runtime code that reverts with `Error("too late")`: copies what follows its twelve bytes, and reverts with it. */
const REASON = `08c379a0${'20'.padStart(64, '0')}${'08'.padStart(64, '0')}${Buffer.from('too late').toString('hex').padEnd(64, '0')}`
const REVERTING_CODE = `0x6064600c60003960646000fd${REASON}`

let anvil: Anvil
let fixture: Fixture
beforeAll(async () => {
  ;[anvil, fixture] = await Promise.all([
    startAnvil({ args: ['--no-mining'] }),
    openFixture({ maxInFlight: 100 }),
  ])
  await anvil.rpc('anvil_setCode', [REVERTING, REVERTING_CODE])
})
afterAll(() => Promise.all([anvil.stop(), fixture.close()]))

const hex = (value: bigint) => `0x${value.toString(16)}`
const mine = (blocks = 1n) => anvil.rpc('anvil_mine', [hex(blocks)])

/** What the table says about an attempt. */
interface AttemptRow {
  readonly number: number
  readonly outcome: string
  readonly broadcast_at: Date | null
  readonly error: string | null
  readonly has_fee: boolean
}

interface Setup {
  readonly owner: TestAccount
  readonly accept: ReturnType<typeof acceptorOf>
  readonly step: () => Promise<void>
  readonly look: () => Promise<void>
}

async function setUp({
  balance = 10n ** 18n,
  policies = {},
}: {
  balance?: bigint
  policies?: EvmRelayerConfig['policies']
} = {}): Promise<Setup> {
  const network = { ...SILENT_NETWORK, rpcUrls: [{ url: anvil.url, weight: 100 }] }
  const chain = createEvmChain({ network, rpcTimeoutMs: 5_000, clock: systemClock, log: fixture.context.log })
  const owner = await fixture.addAccount({ chain, network, policies })
  await anvil.rpc('anvil_setBalance', [owner.relayer.address, hex(balance)])
  const memory = createWatchMemory()
  return {
    owner,
    accept: acceptorOf(fixture.context),
    step: () => workAccount(fixture.context, owner.relayer.id),
    look: () => watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory }),
  }
}

const now = async (transaction: Transaction) => (await reload(fixture.context, transaction)).transaction

// What is accepted is due at once, also for a clock that a test before this one has stopped.
beforeEach(() => fixture.clock.advance(60_000))

describe('acceptance', () => {
  test('requests at the same time cannot all count on the same money', async () => {
    const { owner, accept } = await setUp({ balance: 3n * TRANSFER_COST + 1n })
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => accept(owner.relayer, TRANSFER, ACTOR)),
    )
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).toHaveLength(7)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'insufficient_balance' })
  })

  test('min_balance is kept besides', async () => {
    const { owner, accept } = await setUp({ balance: TRANSFER_COST + 50n, policies: { minBalance: 51n } })
    await expect(accept(owner.relayer, TRANSFER, ACTOR)).rejects.toMatchObject({
      code: 'insufficient_balance',
    })
  })

  test('a call that reverts is refused with the decoded reason, and nothing is stored', async () => {
    const { owner, accept } = await setUp()
    await expect(accept(owner.relayer, requestOf({ to: REVERTING, value: 0n }), ACTOR)).rejects.toMatchObject(
      {
        code: 'execution_reverted',
        detail: 'The transaction would revert: too late.',
      },
    )
    const rows = await fixture.context.db
      .selectFrom('transactions')
      .selectAll()
      .where('relayer_id', '=', owner.relayer.id)
      .execute()
    expect(rows).toEqual([])
  })

  test('what it estimated is what is sent, without a second simulation', async () => {
    const { owner, accept, step } = await setUp()
    const { transaction } = await accept(owner.relayer, requestOf({ value: 5n }), ACTOR)
    await step()
    const { attempts } = await reload(fixture.context, transaction)
    const { estimatedGas } = await now(transaction)
    expect(attempts).toMatchObject([{ draft: { gasLimit: ((estimatedGas ?? 0n) * 110n) / 100n } }])
  })
})

describe('a real chain', () => {
  test('a crowd is executed once each, in order, and confirmed at depth', async () => {
    const { owner, accept, step, look } = await setUp()
    const accepted = await Promise.all(
      Array.from({ length: 40 }, () => accept(owner.relayer, TRANSFER, ACTOR)),
    )
    await step()
    await mine()
    await look()
    const mined = await Promise.all(accepted.map(({ transaction }) => now(transaction)))
    expect(new Set(mined.map(({ status }) => status))).toEqual(new Set(['mined']))
    expect(mined.map(({ nonce }) => Number(nonce)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, index) => index),
    )
    await mine(2n)
    await look()
    for (const { transaction } of accepted) {
      expect(await eventsOf(fixture.context, transaction)).toEqual([
        'pending',
        'sent',
        'submitted',
        'mined',
        'confirmed',
      ])
    }
    expect(await anvil.rpc('eth_getTransactionCount', [owner.relayer.address, 'latest'])).toBe('0x28')
  })

  test('a reverted transaction fails at depth, with the decoded reason', async () => {
    const { owner, accept, step, look } = await setUp()
    // With its own gas limit nothing is simulated, so it gets as far as a block.
    const { transaction } = await accept(
      owner.relayer,
      requestOf({ to: REVERTING, value: 0n, gasLimit: 100_000n }),
      ACTOR,
    )
    await step()
    await mine()
    await look()
    expect(await now(transaction)).toMatchObject({
      status: 'mined',
      statusReason: 'Reverted on chain: too late.',
    })
    await mine(2n)
    await look()
    expect(await now(transaction)).toMatchObject({ status: 'failed' })
  })

  test('a reorg takes it back, and the same bytes bring it in again (I7)', async () => {
    const { owner, accept, step, look } = await setUp()
    await mine()
    const { transaction } = await accept(owner.relayer, TRANSFER, ACTOR)
    await step()
    await mine()
    await look()
    const before = await reload(fixture.context, transaction)
    expect(before.transaction.status).toBe('mined')
    await anvil.rpc('anvil_reorg', [1, []])
    await mine()
    await look()
    expect((await now(transaction)).status).toBe('submitted')
    fixture.clock.advance(1_000)
    await step()
    await mine(3n)
    await look()
    await look()
    const after = await reload(fixture.context, transaction)
    expect(after.transaction.status).toBe('confirmed')
    expect(after.attempts.map(({ signed }) => signed)).toEqual(before.attempts.map(({ signed }) => signed))
  })

  test('the table of attempts says by itself what the API says, at every step (I15)', async () => {
    const { owner, accept, step, look } = await setUp()
    /** The rows as anyone who reads the database with SQL finds them, after a comparison with the answer of the API. */
    const rowsOf = async (transaction: Transaction) => {
      const { rows } = await sql<AttemptRow>`
        select number, outcome, broadcast_at, error, result -> 'feeCharged' is not null as has_fee
        from attempts where transaction_id = ${transaction.id} order by number`.execute(fixture.context.db)
      const item = await reload(fixture.context, transaction)
      const { attempts, sent_at } = presentWithAttempts(item, owner.runtime.chain)
      expect(attempts).toMatchObject(
        rows.map(({ number, outcome, broadcast_at, error }) => ({
          number,
          outcome,
          ...(broadcast_at && { broadcast_at: broadcast_at.toISOString() }),
          ...(error !== null && { error }),
        })),
      )
      expect(rows.at(-1)?.broadcast_at?.toISOString()).toBe(sent_at)
      return rows.map(({ outcome, broadcast_at, has_fee }) => [outcome, broadcast_at?.getTime(), has_fee])
    }
    await mine()
    const { transaction } = await accept(owner.relayer, TRANSFER, ACTOR)
    const reverting = requestOf({ to: REVERTING, value: 0n, gasLimit: 100_000n })
    const { transaction: reverted } = await accept(owner.relayer, reverting, ACTOR)
    const at = fixture.clock.now()
    await step()
    expect(await rowsOf(transaction)).toEqual([['broadcast', at, false]])
    expect(await rowsOf(reverted)).toEqual([['broadcast', at, false]])
    await mine()
    await look()
    expect(await rowsOf(transaction)).toEqual([['mined', at, true]])
    expect(await rowsOf(reverted)).toEqual([['reverted', at, true]])
    await anvil.rpc('anvil_reorg', [1, []])
    await mine()
    await look()
    expect((await now(transaction)).status).toBe('submitted')
    // The fee of the block that is gone moves to the events that tell of it.
    expect(await rowsOf(transaction)).toEqual([['broadcast', at, false]])
    expect(await rowsOf(reverted)).toEqual([['broadcast', at, false]])
    const { rows: events } = await sql<{ status: string; gas: string | null }>`
      select payload ->> 'status' as status, payload -> 'result' -> 'gasUsed' ->> '$int' as gas
      from events where transaction_id = ${transaction.id} and payload ? 'result'`.execute(fixture.context.db)
    expect(events).toEqual([{ status: 'mined', gas: '21000' }])
    fixture.clock.advance(1_000)
    await step()
    await mine(3n)
    await look()
    await look()
    expect([(await now(transaction)).status, (await now(reverted)).status]).toEqual(['confirmed', 'failed'])
    expect(await rowsOf(transaction)).toEqual([['mined', at, true]])
    expect(await rowsOf(reverted)).toEqual([['reverted', at, true]])
  })

  test('a nonce that another program uses with the same key is never used twice (R4)', async () => {
    const { owner, accept, step, look } = await setUp({ policies: { sharedAccount: true } })
    const { transaction } = await accept(owner.relayer, TRANSFER, ACTOR)
    await step()
    await anvil.rpc('anvil_dropTransaction', [
      (await reload(fixture.context, transaction)).attempts[0]?.signed.hash,
    ])
    await anvil.rpc('eth_sendRawTransaction', [await signOutside(owner, 0n)])
    await mine()
    fixture.clock.advance(30_000)
    await step()
    expect(await now(transaction)).toMatchObject({ status: 'submitted', nonce: 0n })
    for (let block = 0; block < 4; block += 1) {
      await look()
      await mine()
      fixture.clock.advance(10_000)
    }
    expect(await now(transaction)).toMatchObject({ status: 'pending', nonce: undefined })
    const next = await accept(owner.relayer, TRANSFER, ACTOR)
    await step()
    expect(await now(transaction)).toMatchObject({ status: 'submitted', nonce: 1n })
    expect(await now(next.transaction)).toMatchObject({ status: 'submitted', nonce: 2n })
  })

  test('a creation is executed, with what its code needs', async () => {
    const { owner, accept, step, look } = await setUp()
    // Init code that returns one zero byte of runtime code.
    const { transaction } = await accept(
      owner.relayer,
      {
        type: 'evm',
        value: 0n,
        data: '0x60016000f3',
      },
      ACTOR,
    )
    await step()
    await mine()
    await look()
    const { transaction: mined, attempts } = await reload(fixture.context, transaction)
    expect(mined).toMatchObject({ status: 'mined' })
    expect(mined.statusReason).toBeUndefined()
    const receipt = await anvil.rpc<{ contractAddress: string | null; status: string }>(
      'eth_getTransactionReceipt',
      [attempts[0]?.signed.hash],
    )
    expect(receipt).toMatchObject({ status: '0x1', contractAddress: expect.stringMatching(/^0x/) })
  })
})

test('the chain refuses a chain id that is not its own, and says both', async () => {
  const network = { ...SILENT_NETWORK, chainId: 1, rpcUrls: [{ url: anvil.url, weight: 100 }] }
  const chain = createEvmChain({ network, rpcTimeoutMs: 5_000, clock: systemClock, log: fixture.context.log })
  expect(await chain.verify()).toMatchObject({
    kind: 'refused',
    refusal: { detail: expect.stringMatching(/chain_id 1 is configured.*31337/) },
  })
})
