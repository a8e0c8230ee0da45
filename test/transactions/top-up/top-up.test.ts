import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Freshness } from '../../../src/chains/answer.ts'
import type { AccountFunds } from '../../../src/chains/capabilities.ts'
import type { EvmRelayer } from '../../../src/relayers/relayer.ts'
import { saveRelayer } from '../../../src/relayers/store.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveInOwnTransaction } from '../../../src/transactions/store/transactions-store.ts'
import { CHANGED, decideTopUp, payTopUp, topUpRelayer } from '../../../src/transactions/top-up/top-up.ts'
import { readTopUpState, readTopUps, toHistory } from '../../../src/transactions/top-up/top-up-store.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('a top-up', () => {
  const INTERVAL_MS = 30_000

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** A treasury, and a relayer that it fills. Its nodes tell the balance. */
  async function setUp() {
    const funds: AccountFunds = { spendable: 0n, missingReserve: 0n, exists: true }
    const nodes = { funds, asked: [] as (bigint | undefined)[] }
    const stub = createStubChain()
    const chain = chainOf(stub)
    const funding = {
      ...chain.funding,
      read: async (_address: string, { asOf }: Freshness = {}) => {
        nodes.asked.push(asOf)
        return { kind: 'ok', value: nodes.funds } as const
      },
    }
    const treasury = await fixture.addAccount({ chain: { ...chain, funding } })
    const topUp = { from: treasury.relayer.id, below: 100n, to: 300n, max_per_day: 1_000n }
    const hot = await fixture.addAccount({ chain })
    const save = async (change: Partial<EvmRelayer>) => {
      const relayer = { ...hot.relayer, policies: { topUp }, ...change }
      await fixture.database.db.transaction().execute((tx) => saveRelayer(tx, relayer))
      return relayer
    }
    const relayer = await save({})
    const look = async () => {
      await topUpRelayer(fixture.context, relayer.id, { intervalMs: INTERVAL_MS })
      return (await readTopUpState(fixture.database.db, relayer.id))?.state
    }
    const paid = async () =>
      (await readTopUps(fixture.database.db, relayer, fixture.clock.now())).map(({ status }) => status)
    const earlier = async (change: Partial<Transaction>) => {
      const stored = await insert(
        fixture.context,
        newTransaction(treasury, { topUpOf: relayer.id, ...change }),
      )
      // An insert has no column of the end of a transaction.
      await saveInOwnTransaction(fixture.context, stored)
    }
    return { nodes, treasury, relayer, save, look, paid, earlier }
  }

  const CONFIRMED = { status: 'confirmed', request: requestOf({ value: 300n }) } as const

  describe('a top-up', () => {
    test.each(['pending', 'sent', 'submitted', 'mined'] as const)(
      'is not made while another one is %s',
      async (status) => {
        const { look, paid, earlier } = await setUp()
        await earlier({ status })
        expect(await look()).toBe('pending')
        expect(await paid()).toEqual([status])
      },
    )

    test('is not made while the block of a confirmed one is missing from the chain', async () => {
      const { look, paid, earlier } = await setUp()
      await earlier({
        ...CONFIRMED,
        confirmedAt: new Date(fixture.clock.now()),
        reorganizedAt: new Date(fixture.clock.now()),
      })
      expect(await look()).toBe('pending')
      expect(await paid()).toHaveLength(1)
    })

    test('follows a confirmed one only by the word of a node that has reached its block', async () => {
      const { nodes, look, paid, earlier } = await setUp()
      await earlier({ ...CONFIRMED, confirmedAt: new Date(0), block: { number: 77n, hash: '0xab' } })
      expect(await look()).toBe('pending')
      expect(nodes.asked).toEqual([77n])
      expect(await paid()).toEqual(['pending', 'confirmed'])
    })

    test('is made by one of two processes that decide at the same time', async () => {
      const { look, paid } = await setUp()
      await Promise.all([look(), look(), look(), look()])
      expect(await paid()).toEqual(['pending'])
    })

    test('is not made by a process whose decision is older than a payment that has ended meanwhile', async () => {
      const { treasury, relayer, paid, earlier } = await setUp()
      const { clock, context, database } = fixture
      const history = toHistory(await readTopUps(database.db, relayer, clock.now()), () => 0n, clock.now())
      await earlier({ ...CONFIRMED, confirmedAt: new Date(clock.now()) })
      const request = requestOf({ to: relayer.address, value: 300n })
      await expect(payTopUp(context, { treasury: treasury.relayer, relayer, request, history })).rejects.toBe(
        CHANGED,
      )
      expect(await paid()).toEqual(['confirmed'])
    })

    test('is not made for a relayer that was paused, or whose rule changed, after the decision', async () => {
      const { treasury, relayer, save, look, paid } = await setUp()
      const history = toHistory([], () => 0n, fixture.clock.now())
      const request = requestOf({ to: relayer.address, value: 300n })
      const decided = { treasury: treasury.relayer, relayer, request, history }
      await save({ paused: true })
      await expect(payTopUp(fixture.context, decided)).rejects.toBe(CHANGED)
      await look()
      await save({ policies: {} })
      await expect(payTopUp(fixture.context, decided)).rejects.toBe(CHANGED)
      await look()
      expect(await paid()).toEqual([])
    })

    test('waits after a failed one, longer after each', async () => {
      const { look, paid, earlier } = await setUp()
      await earlier({ status: 'failed' })
      expect(await look()).toBe('waiting')
      fixture.clock.advance(61_000)
      await earlier({ status: 'expired' })
      expect(await look()).toBe('waiting')
      fixture.clock.advance(61_000)
      expect(await look()).toBe('waiting')
      fixture.clock.advance(61_000)
      expect(await look()).toBe('pending')
      expect(await paid()).toEqual(['pending', 'expired', 'failed'])
    })

    test('counts what was paid in 24 hours, by the confirmation, and nothing that failed', async () => {
      const { relayer, earlier, look, paid } = await setUp()
      const now = fixture.clock.now()
      const day = 24 * 3_600_000
      await earlier({
        ...CONFIRMED,
        createdAt: new Date(now - 2 * day),
        confirmedAt: new Date(now - day - 1),
      })
      await earlier({
        ...CONFIRMED,
        createdAt: new Date(now - 2 * day),
        confirmedAt: new Date(now - day + 1_000),
      })
      await earlier({
        status: 'failed',
        request: requestOf({ value: 5_000n }),
        createdAt: new Date(now - 3_600_000),
      })
      await earlier({ ...CONFIRMED, request: requestOf({ value: 700n }), confirmedAt: new Date(now - 1_000) })
      const found = await readTopUps(fixture.database.db, relayer, now)
      const amountOf = ({ request }: Transaction) => (request.type === 'evm' ? request.value : 0n)
      expect(toHistory(found, amountOf, now)).toMatchObject({ paid: 1_000n, failures: 0 })
      expect(await look()).toBe('limit_reached')
      expect(await paid()).not.toContain('pending')
    })

    test('is not made for a relayer that is disabled for another reason than its balance', async () => {
      const { relayer, look, paid } = await setUp()
      const reason = { type: 'SignerCheckFailed', details: 'The key is another one.' }
      await fixture.database.db
        .updateTable('relayers')
        .set({ system_disabled: true, disabled_reason: JSON.stringify(reason) })
        .where('id', '=', relayer.id)
        .execute()
      expect(await look()).toBe('refused')
      expect(await paid()).toEqual([])
    })

    test('is refused by a treasury that is gone, and the refusal is logged once', async () => {
      const { save, relayer, look } = await setUp()
      await save({ policies: { topUp: { from: 'nobody', below: 1n, to: 2n, max_per_day: 3n } } })
      expect(await look()).toBe('refused')
      expect(await look()).toBe('refused')
      fixture.clock.advance(INTERVAL_MS + 1_000)
      expect(await look()).toBe('refused')
      const lines = fixture.logLines.filter(
        (line) => line.relayer === relayer.id && line.msg === 'top-up refused',
      )
      expect(lines).toMatchObject([{ code: 'relayer_not_found' }])
    })
  })
})

const RULE = { from: 'treasury', below: 100n, to: 300n, max_per_day: 500n }

test.each([
  ['a balance at the threshold is enough', { spendable: 100n }, 0n, { kind: 'enough' }],
  ['a lower one is restored', { spendable: 99n }, 0n, { kind: 'pay', amount: 201n }],
  ['the reserve is paid on top', { spendable: 0n, missingReserve: 50n }, 0n, { kind: 'pay', amount: 350n }],
  ['only what is left of the day is paid', { spendable: 0n }, 400n, { kind: 'pay', amount: 100n }],
  ['nothing is left', { spendable: 0n }, 500n, { kind: 'limit_reached' }],
  ['more was paid than the limit is now', { spendable: 0n }, 900n, { kind: 'limit_reached' }],
  [
    'no more than the reserve is left',
    { spendable: 0n, missingReserve: 50n },
    450n,
    { kind: 'limit_reached' },
  ],
])('%s', (_title, funds, paid, expected) => {
  expect(decideTopUp(RULE, { missingReserve: 0n, exists: true, ...funds }, { paid })).toEqual(expected)
})
