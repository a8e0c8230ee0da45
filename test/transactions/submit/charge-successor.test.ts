import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { networkOf } from '../../../src/relayers/relayer.ts'
import { spend } from '../../../src/spending/ledger.ts'
import { subjectOfRelayer } from '../../../src/spending/rules.ts'
import { closeHoldings, readSpent } from '../../../src/spending/spending-store.ts'
import { purchaseOf } from '../../../src/transactions/budgets/charge.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { chargeSuccessors } from '../../../src/transactions/submit/charge-successor.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { spentOf } from '../../spending/build.ts'
import { ACTOR } from '../../support/samples.ts'
import { type Fixture, insert, leaseOf, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('a version that could be executed in addition to the one before it', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  interface Situation {
    /** The limit of the relayer for a day. Each version moves 60. */
    readonly value: bigint
    readonly change?: Partial<Transaction>
    /** The chain has proved that the version before was not included. */
    readonly isProved?: boolean
  }

  /** Charges a version, and closes it unless its absence is proved. */
  async function setUp({ value, change = {}, isProved = false }: Situation) {
    const { db } = fixture.context
    const now = new Date(fixture.clock.now())
    const stub = createStubChain()
    const owner = await fixture.addAccount({
      chain: chainOf(stub),
      policies: { rules: { limits: [{ per: 'day', asset: 'native', value }] } },
    })
    const { relayer, runtime } = owner
    const request = requestOf({ value: 60n })
    const [first] = await insert(
      fixture.context,
      newTransaction(owner, { request, cost: 65n, isBudgeted: true, ...change }),
    )
    if (first === undefined) throw new Error('nothing was stored')
    const network = networkOf(relayer)
    const [returned] = await db.transaction().execute(async (tx) => {
      const saved = await saveTransactions(tx, [first])
      const purchase = purchaseOf(runtime, { relayer, actor: ACTOR }, first)
      if (purchase === undefined) throw new Error('the relayer has no limit')
      await spend(tx, purchase, now)
      if (!isProved) await closeHoldings(tx, [first.id])
      return saved
    })
    if (returned === undefined) throw new Error('nothing was saved')
    return { stub, owner, returned, network, now }
  }

  /** Charges the next version. */
  async function chargeNext(situation: Situation) {
    const { owner, returned, network, now } = await setUp(situation)
    const { relayer, runtime } = owner
    const leased = { relayer, runtime, lease: await leaseOf(fixture.context, owner) }
    const allowed = await chargeSuccessors(fixture.context, leased, [returned])
    const counter = { subject: subjectOfRelayer(relayer.id), network, asset: 'native' }
    const spentIn = await readSpent(fixture.context.db, [{ counter, period: 'day' }], now)
    return {
      isAllowed: allowed.length === 1,
      spent: spentIn(counter, 'day'),
      stored: (await reload(fixture.context, returned)).transaction,
    }
  }

  test.each<[string, Situation, boolean, ReturnType<typeof spentOf>]>([
    ['is charged on top of it', { value: 120n }, true, spentOf(120, 10, 2)],
    ['waits where the budget does not allow both', { value: 119n }, false, spentOf(60, 5, 1)],
    [
      'is charged regardless of the budget where others wait for its nonce',
      { value: 119n, change: { nonce: 4n } },
      true,
      spentOf(120, 10, 2),
    ],
    ['moves nothing as a no-op', { value: 119n, change: { purpose: 'cancel' } }, true, spentOf(60, 70, 2)],
    [
      'has the charge of the one before, if that is proved to be absent',
      { value: 60n, isProved: true },
      true,
      spentOf(60, 5, 1),
    ],
  ])('%s', async (_, situation, isAllowed, spent) => {
    const next = await chargeNext(situation)
    expect([next.isAllowed, next.spent]).toEqual([isAllowed, spent])
  })

  test.each([
    ['is signed', 120n, 'submitted', 1],
    ['is not signed', 119n, 'pending', 0],
  ])('%s by the worker with a budget of %i', async (_, value, status, count) => {
    const { stub, owner, returned } = await setUp({ value })
    await workAccount(fixture.context, owner.relayer.id)
    expect((await reload(fixture.context, returned)).transaction.status).toBe(status)
    expect(stub.broadcasted).toHaveLength(count)
  })

  test('says why it waits, and lets others overtake it', async () => {
    const { stored } = await chargeNext({ value: 119n })
    expect(stored.statusReason).toMatch(/^Waiting for a budget: only one endpoint or an operator says/)
    expect(stored.statusReason).toContain('59 is left, and this transaction needs up to 60')
    expect(stored).toMatchObject({
      status: 'pending',
      stuckSince: expect.any(Date),
      nextRunAt: new Date(fixture.clock.now() + 30_000),
    })
  })
})
