import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attempt, ChargedFee } from '../../../src/chains/attempt.ts'
import type { Effects } from '../../../src/chains/effects.ts'
import { removeRelayer, saveRelayer } from '../../../src/relayers/store.ts'
import type { Counter, Spent } from '../../../src/spending/budget.ts'
import type { Holding } from '../../../src/spending/holding.ts'
import { spend } from '../../../src/spending/ledger.ts'
import { closeHoldings, findUnsettled, readSpent } from '../../../src/spending/spending-store.ts'
import { amountTakenBy, deleteOldBudgets, releaseBudgets } from '../../../src/transactions/budgets/settle.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { findTransactions } from '../../../src/transactions/store/lookups-store.ts'
import { signAttempt } from '../../../src/transactions/submit/sign.ts'
import { draftOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { NETWORK, spenderWith, spentOf, TOKEN } from '../../spending/build.ts'
import { effectsWith } from '../../support/samples.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

const EFFECTS = effectsWith({
  amounts: [
    { asset: 'native', value: 60n },
    { asset: TOKEN, value: 7n },
  ],
})

/** A chain whose content moves this, and that tells the fee of the receipt. */
const chainMoving = (effects: Effects) => ({
  effects: () => effects,
  paidFee: ({ result }: Attempt) => result?.feeCharged,
})

function holdingOf(asset: string, most: Spent): Holding {
  return {
    version: 1,
    closed: false,
    transactionId: 'tx',
    subject: 'key:one',
    network: NETWORK,
    asset,
    at: new Date(0),
    most,
    counted: most,
    settled: false,
  }
}

const MINED = { outcome: 'mined', result: { feeCharged: 3n as ChargedFee } } as const
const REVERTED = { outcome: 'reverted', result: { feeCharged: 3n as ChargedFee } } as const

interface Case {
  readonly attempts: Parameters<typeof itemOf>[0]
  readonly change?: Partial<Transaction>
  /** Of the native currency, of which the most was 90 with fees of 9. */
  readonly took: Spent
  /** Of the token, of which the most was 8. */
  readonly ofToken: bigint
}

const CASES: readonly [string, Case][] = [
  ['never signed', { attempts: [], took: spentOf(0), ofToken: 0n }],
  ['signed, and never included', { attempts: [{ outcome: 'expired' }], took: spentOf(0), ofToken: 0n }],
  [
    'its nonce was used outside the service',
    { attempts: [{ outcome: 'superseded' }], took: spentOf(0), ofToken: 0n },
  ],
  [
    'no attempt is the current one any more',
    {
      attempts: [{ outcome: 'expired' }],
      change: { currentAttempt: undefined },
      took: spentOf(0),
      ofToken: 0n,
    },
  ],
  ['mined', { attempts: [MINED], took: spentOf(60, 3, 1), ofToken: 7n }],
  [
    'mined, and no one tells the fee',
    { attempts: [{ outcome: 'mined' }], took: spentOf(60, 9, 1), ofToken: 7n },
  ],
  ['reverted', { attempts: [REVERTED], took: spentOf(0, 3, 1), ofToken: 0n }],
  [
    'reverted, and no one tells the fee',
    { attempts: [{ outcome: 'reverted' }], took: spentOf(0, 9, 1), ofToken: 0n },
  ],
  ...(['cancel', 'expire', 'abandon'] as const).map((kind): [string, Case] => [
    `its ${kind} is included`,
    {
      attempts: [{ outcome: 'superseded' }, { kind, ...MINED }],
      took: spentOf(0, 3, 1),
      ofToken: 0n,
    },
  ]),
  [
    'its cancellation is included with a higher fee',
    {
      attempts: [{}, { kind: 'cancel' }, { kind: 'speed_up', ...MINED }],
      took: spentOf(0, 3, 1),
      ofToken: 0n,
    },
  ],
  [
    'it is included with a higher fee',
    { attempts: [{}, { kind: 'speed_up', ...MINED }], took: spentOf(60, 3, 1), ofToken: 7n },
  ],
  [
    'its replacement is included',
    { attempts: [{}, { kind: 'replace', ...MINED }], took: spentOf(60, 3, 1), ofToken: 7n },
  ],
  [
    'it is included before its replacement: the record has only the content of the replacement',
    {
      attempts: [MINED, { kind: 'replace', outcome: 'superseded' }],
      change: { currentAttempt: 1 },
      took: spentOf(90, 3, 1),
      ofToken: 8n,
    },
  ],
  [
    'it is included after its replacement was refused, so that the record has its content again',
    {
      attempts: [MINED, { kind: 'replace', outcome: 'refused' }],
      change: { currentAttempt: 1 },
      took: spentOf(60, 3, 1),
      ofToken: 7n,
    },
  ],
  [
    'it is included before the content that was to follow',
    { attempts: [MINED], change: { purpose: 'successor' }, took: spentOf(90, 3, 1), ofToken: 8n },
  ],
  [
    'it is included although it was canceled',
    {
      attempts: [MINED, { kind: 'cancel', outcome: 'superseded' }],
      change: { currentAttempt: 1, purpose: 'cancel' },
      took: spentOf(60, 3, 1),
      ofToken: 7n,
    },
  ],
]

test.each(CASES)(
  'the amounts that a transaction took are known when %s',
  (_what, { attempts, change, took, ofToken }) => {
    const item = itemOf(attempts, change)
    const chain = chainMoving(EFFECTS)
    expect(amountTakenBy(holdingOf('native', spentOf(90, 9, 1)), item, chain)).toEqual(took)
    expect(amountTakenBy(holdingOf(TOKEN, spentOf(8)), item, chain)).toEqual(spentOf(ofToken))
  },
)

test('a transaction took nothing of an asset that its last content does not move', () => {
  const item = itemOf([{}, { kind: 'replace', ...MINED }])
  expect(amountTakenBy(holdingOf('other', spentOf(8)), item, chainMoving(EFFECTS))).toEqual(spentOf(0))
})

describe('stored budgets', () => {
  const DAY_MS = 24 * 60 * 60_000

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const addAccount = () => fixture.addAccount({ chain: chainOf(createStubChain()) })

  /** Stores a transaction that was charged to a key of its own. */
  async function charged(account: TestAccount, subject: string, change: Partial<Transaction>) {
    const [transaction] = await insert(
      fixture.context,
      newTransaction(account, { isBudgeted: true, ...change }),
    )
    if (transaction === undefined) throw new Error('nothing was stored')
    const limits = [{ per: 'day', asset: 'native', value: 10_000n }] as const
    const spenders = [{ ...spenderWith({ limits }), subject }]
    const network = `evm:${account.relayer.network}`
    const charge = { network, amounts: [{ asset: 'native', value: 60n }], fees: 5n }
    const purchase = { transactionId: transaction.id, spenders, charge }
    const now = new Date(fixture.clock.now())
    await fixture.context.db.transaction().execute((tx) => spend(tx, purchase, now))
    return { subject, network, asset: 'native' }
  }

  async function newestOf({ relayer }: TestAccount) {
    const { db } = fixture.context
    const rows = await db
      .selectFrom('transactions')
      .select('id')
      .where('relayer_id', '=', relayer.id)
      .execute()
    return findTransactions(
      db,
      relayer.id,
      rows.map(({ id }) => id),
    )
  }

  async function spentBy(counter: Counter) {
    const now = new Date(fixture.clock.now())
    return (await readSpent(fixture.context.db, [{ counter, period: 'day' }], now))(counter, 'day')
  }

  test('what ended without being signed is given back, once, and what is under way is not', async () => {
    const account = await addAccount()
    const canceled = await charged(account, 'key:canceled', { status: 'canceled' })
    const pending = await charged(account, 'key:pending', { status: 'pending' })
    await releaseBudgets(fixture.context)
    expect([await spentBy(canceled), await spentBy(pending)]).toEqual([spentOf(0), spentOf(60, 5, 1)])
    await releaseBudgets(fixture.context)
    expect([await spentBy(canceled), await spentBy(pending)]).toEqual([spentOf(0), spentOf(60, 5, 1)])
  })

  test('of two versions only the newer one keeps its charge: the chain has not included the older one', async () => {
    const account = await addAccount()
    const { db, clock } = fixture.context
    const value = {
      request: requestOf({ value: 60n }),
      nonce: 0n,
      status: 'submitted',
      currentAttempt: 2,
    } as const
    const counter = await charged(account, 'key:versions', value)
    const [{ transaction } = itemOf()] = await newestOf(account)
    const signed = async (number: number, change: Partial<Attempt>) => {
      const draft = draftOf(eip1559(100n, 10n), { value: BigInt(number) })
      const signable = { transaction, attempts: [], draft, kind: 'send' } as const
      return { ...(await signAttempt(fixture.context, account.runtime, signable)), number, ...change }
    }
    const attempts = [
      await signed(1, { outcome: 'expired' }),
      await signed(2, { kind: 'replace', outcome: 'mined' }),
    ]
    await db.transaction().execute(async (tx) => {
      await insertAttempts(
        tx,
        attempts.map((attempt) => ({ transactionId: transaction.id, attempt })),
      )
      await closeHoldings(tx, [transaction.id])
      const spenders = [
        {
          ...spenderWith({ limits: [{ per: 'day', asset: 'native', value: 200n }] }),
          subject: counter.subject,
        },
      ]
      const charge = { network: counter.network, amounts: [{ asset: 'native', value: 60n }], fees: 5n }
      await spend(tx, { transactionId: transaction.id, spenders, charge }, new Date(clock.now()))
    })
    expect(await spentBy(counter)).toEqual(spentOf(120, 10, 2))
    await db
      .updateTable('transactions')
      .set({ status: 'confirmed', current_attempt: 2 })
      .where('id', '=', transaction.id)
      .execute()
    await releaseBudgets(fixture.context)
    // No node told the fee.
    expect(await spentBy(counter)).toEqual(spentOf(60, 5, 1))
  })

  test('what an account of a relayer did not spend is given back after it has left', async () => {
    const account = await addAccount()
    const further = { ...account.relayer, id: `${account.relayer.id}/0x1` }
    const { db } = fixture.database
    await db.transaction().execute((tx) => saveRelayer(tx, further))
    const canceled = await charged({ ...account, relayer: further }, 'key:left', { status: 'canceled' })
    await db.updateTable('relayers').set({ removed_at: new Date() }).where('id', '=', further.id).execute()
    await releaseBudgets(fixture.context)
    expect(await spentBy(canceled)).toEqual(spentOf(0))
  })

  test('many transactions are given back together: each once, each to those who paid for it, and none of another relayer', async () => {
    const [one, other] = [await addAccount(), await addAccount()]
    for (const status of ['canceled', 'expired', 'failed', 'submitted'] as const)
      await charged(one, 'key:many', { status })
    const alone = await charged(one, 'key:alone', { status: 'failed' })
    const elsewhere = await charged(other, 'key:many', { status: 'canceled' })
    expect([await spentBy(elsewhere), await spentBy(alone)]).toEqual([spentOf(300, 25, 5), spentOf(60, 5, 1)])
    await Promise.all([releaseBudgets(fixture.context), releaseBudgets(fixture.context)])
    expect([await spentBy(elsewhere), await spentBy(alone)]).toEqual([spentOf(60, 5, 1), spentOf(0)])
  })

  test.each([
    ['was reopened', 'key:reopened', { status: 'submitted' }],
    ['lost its block', 'key:moved', { reorganized_at: new Date() }],
  ] as const)('what %s since it was found stays charged', async (_, subject, change) => {
    const account = await addAccount()
    const reopened = await charged(account, subject, { status: 'failed' })
    const { db } = fixture.context
    await releaseBudgets({
      ...fixture.context,
      // It is asked between the finding and the locking.
      relayerOf: async (id) => {
        await db
          .updateTable('transactions')
          .set(change)
          .where('relayer_id', '=', account.relayer.id)
          .execute()
        return fixture.context.relayerOf(id)
      },
    })
    expect(await spentBy(reopened)).toEqual(spentOf(60, 5, 1))
  })

  test('a relayer that was deleted keeps its budget, and nothing waits for it', async () => {
    const account = await addAccount()
    const deleted = await charged(account, 'key:deleted', { status: 'canceled' })
    await fixture.context.db.transaction().execute((tx) => removeRelayer(tx, account.relayer.id))
    expect(await findUnsettled(fixture.context.db, 10)).toEqual(new Map())
    await releaseBudgets(fixture.context)
    expect(await spentBy(deleted)).toEqual(spentOf(60, 5, 1))
  })

  test('a relayer that came back on another network does not read the content of the former one', async () => {
    const account = await addAccount()
    const former = await charged(account, 'key:former', { status: 'canceled' })
    await fixture.context.db
      .updateTable('relayers')
      .set({ network_type: 'stellar' })
      .where('id', '=', account.relayer.id)
      .execute()
    expect(await findUnsettled(fixture.context.db, 10)).toEqual(new Map())
    expect(await spentBy(former)).toEqual(spentOf(60, 5, 1))
  })

  test('what no period counts any more is deleted, also of deleted relayers, but not of transactions under way', async () => {
    const account = await addAccount()
    await charged(account, 'key:old', { status: 'pending' })
    const count = async () => {
      const rows = await fixture.context.db.selectFrom('spendings').select('subject').execute()
      return rows.map(({ subject }) => subject).sort()
    }
    expect(await count()).toContain('key:deleted')
    fixture.clock.advance(33 * DAY_MS)
    await charged(account, 'key:new', { status: 'canceled' })
    await deleteOldBudgets(fixture.context)
    const underWay = ['key:many', 'key:old', 'key:pending', 'key:reopened']
    expect(await count()).toEqual([...underWay, 'key:new'].sort())
    expect(await fixture.context.db.selectFrom('spent').select('subject').distinct().execute()).toEqual([
      { subject: 'key:new' },
    ])
  })
})
