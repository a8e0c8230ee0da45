import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LeaseLostError } from '../../../src/database/lease.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { type AccountCapacity, numberAndSign } from '../../../src/transactions/submit/number-and-sign.ts'
import type { Signable } from '../../../src/transactions/submit/sign.ts'
import { draftOf, legacy } from '../../chains/evm/build.ts'
import {
  type Fixture,
  insert,
  leaseOf,
  lostLeaseOf,
  newTransaction,
  openFixture,
  reload,
  type TestAccount,
} from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const account = (policies = {}) => fixture.addAccount({ chain: chainOf(createStubChain()), policies })
const store = (owner: TestAccount, count: number) =>
  insert(fixture.context, ...Array.from({ length: count }, () => newTransaction(owner)))
const noncesOf = (transactions: readonly Transaction[]) => transactions.map(({ nonce }) => nonce)

/** The account itself, with more slots than any test has transactions. */
const ownAccount = ({ relayer }: TestAccount, chainNonce = 0n): AccountCapacity => ({
  address: relayer.address,
  chainNonce,
  slots: 100,
})

async function number(owner: TestAccount, transactions: readonly Transaction[], chainNonce = 0n) {
  return numberOn(owner, transactions, [ownAccount(owner, chainNonce)])
}

async function numberOn(
  owner: TestAccount,
  transactions: readonly Transaction[],
  sourceAccounts: readonly AccountCapacity[],
) {
  const lease = await leaseOf(fixture.context, owner)
  const stored = await numberAndSign(fixture.context, {
    relayer: owner.relayer,
    runtime: owner.runtime,
    signables: transactions.map(signableOf),
    sourceAccounts,
    lease,
  })
  return stored.map(({ transaction }) => transaction)
}

/** The content differs, because these source accounts have one key: the same nonce would give the same bytes. */
function signableOf(transaction: Transaction): Signable {
  const value = BigInt(`0x${transaction.id.replaceAll('-', '').slice(0, 12)}`)
  return { transaction, attempts: [], draft: draftOf(legacy(0n), { value }), kind: 'send' }
}

async function counterOf({ relayer }: TestAccount): Promise<bigint | null> {
  const row = await fixture.context.db
    .selectFrom('accounts')
    .select('next_nonce')
    .where('relayer_id', '=', relayer.id)
    .where('address', '=', relayer.address)
    .executeTakeFirstOrThrow()
  return row.next_nonce
}

/** Stores three transactions, the second of which another writer has canceled since it was read. */
async function threeWithOneChanged() {
  const owner = await account()
  const [a, b, c] = await store(owner, 3)
  if (!a || !b || !c) throw new Error('nothing was stored')
  await fixture.context.db.transaction().execute((tx) => saveTransactions(tx, [{ ...b, status: 'canceled' }]))
  return { owner, a, b, c }
}

describe('numbering', () => {
  test('goes on from the counter, in the order of acceptance, and starts where the chain is', async () => {
    const owner = await account()
    expect(noncesOf(await number(owner, await store(owner, 3), 40n))).toEqual([40n, 41n, 42n])
    expect(noncesOf(await number(owner, await store(owner, 2), 0n))).toEqual([43n, 44n])
    expect(await counterOf(owner)).toBe(45n)
  })

  test('follows the chain when another program has used nonces (R4), and never goes back (R6)', async () => {
    const owner = await account({ sharedAccount: true })
    await number(owner, await store(owner, 1), 10n)
    expect(noncesOf(await number(owner, await store(owner, 1), 15n))).toEqual([15n])
    expect(noncesOf(await number(owner, await store(owner, 1), 3n))).toEqual([16n])
  })

  test.each([
    ['moved', 50n, 50n],
    ['cleared, so the chain gives the next nonce', null, 7n],
  ])('the next step follows a counter that another writer has %s', async (_how, counter, expected) => {
    const owner = await account({ sharedAccount: true })
    await number(owner, await store(owner, 2))
    await fixture.context.db
      .updateTable('accounts')
      .set({ next_nonce: counter })
      .where('relayer_id', '=', owner.relayer.id)
      .execute()
    expect(noncesOf(await number(owner, await store(owner, 2), 7n))).toEqual([expected, expected + 1n])
    expect(noncesOf(await number(owner, await store(owner, 1)))).toEqual([expected + 2n])
  })

  test('a transaction keeps the nonce that it has', async () => {
    const owner = await account()
    const first = newTransaction(owner, { nonce: 5n, sourceAccount: owner.relayer.address })
    const again = await number(
      owner,
      [...(await insert(fixture.context, first)), ...(await store(owner, 1))],
      6n,
    )
    expect(noncesOf(again)).toEqual([5n, 6n])
    expect(await counterOf(owner)).toBe(7n)
  })

  test('a row that was changed meanwhile gets none, and leaves no gap', async () => {
    const { owner, a, b, c } = await threeWithOneChanged()
    const numbered = await number(owner, [a, b, c])
    expect(numbered.map(({ id, nonce }) => [id, nonce])).toEqual([
      [a.id, 0n],
      [c.id, 1n],
    ])
    expect((await reload(fixture.context, b)).transaction.nonce).toBeUndefined()
    expect(await counterOf(owner)).toBe(2n)
  })

  test('the slot of a row that was changed meanwhile goes to the next one', async () => {
    const { owner, a, b, c } = await threeWithOneChanged()
    const numbered = await numberOn(owner, [a, b, c], [{ ...ownAccount(owner), slots: 2 }])
    expect(numbered.map(({ id, nonce }) => [id, nonce])).toEqual([
      [a.id, 0n],
      [c.id, 1n],
    ])
  })

  test('many concurrent steps give each nonce once, without a gap (R5)', async () => {
    const owner = await account()
    const transactions = await store(owner, 30)
    const steps = [transactions.slice(0, 12), transactions.slice(6, 20), transactions.slice(15)]
    await Promise.all(steps.map((step) => number(owner, step)))
    const stored = await Promise.all(transactions.map((transaction) => reload(fixture.context, transaction)))
    const nonces = stored.map(({ transaction }) => Number(transaction.nonce)).sort((a, b) => a - b)
    expect(nonces).toEqual(Array.from({ length: 30 }, (_, index) => index))
    expect(await counterOf(owner)).toBe(30n)
  })

  test.each([
    ['get their nonces now', [undefined, undefined]],
    ['have their nonces', [3n, 4n]],
  ])(
    'with a lost lease nothing is written for transactions that %s, and no nonce is spent (R16)',
    async (_, nonces) => {
      const owner = await account()
      const lease = await lostLeaseOf(fixture.context, owner)
      const transactions = await insert(
        fixture.context,
        ...nonces.map((nonce) => newTransaction(owner, nonce === undefined ? {} : { nonce })),
      )
      const late = numberAndSign(fixture.context, {
        relayer: owner.relayer,
        runtime: owner.runtime,
        signables: transactions.map(signableOf),
        sourceAccounts: [ownAccount(owner, 9n)],
        lease,
      })
      await expect(late).rejects.toThrow(LeaseLostError)
      expect(await counterOf(owner)).toBeNull()
      for (const transaction of transactions)
        expect(await reload(fixture.context, transaction)).toEqual({ transaction, attempts: [] })
    },
  )
})

describe('several source accounts', () => {
  const sourceAccount = (address: string, chainNonce: bigint, slots: number): AccountCapacity => ({
    address,
    chainNonce,
    slots,
  })
  const externalNoncesOf = (transactions: readonly Transaction[]) =>
    transactions.map((transaction) => [transaction.sourceAccount, transaction.nonce])

  async function countersOf({ relayer }: TestAccount): Promise<[string, bigint | null][]> {
    const rows = await fixture.context.db
      .selectFrom('accounts')
      .select(['address', 'next_nonce'])
      .where('relayer_id', '=', relayer.id)
      .where('address', '<>', relayer.address)
      .where('next_nonce', 'is not', null)
      .orderBy('address')
      .execute()
    return rows.map((row) => [row.address, row.next_nonce])
  }

  test('are filled one after the other, and each goes on from its own counter', async () => {
    const owner = await account()
    const own = owner.relayer.address
    const sourceAccounts = [
      sourceAccount(own, 5n, 1),
      sourceAccount('A', 100n, 2),
      sourceAccount('B', 2n ** 40n, 1),
    ]
    const transactions = await store(owner, 4)
    const numbered = await numberOn(owner, transactions, sourceAccounts)
    expect(numbered.map(({ id }) => id)).toEqual(transactions.map(({ id }) => id))
    expect(externalNoncesOf(numbered)).toEqual([
      [own, 5n],
      ['A', 100n],
      ['A', 101n],
      ['B', 2n ** 40n],
    ])
    expect(externalNoncesOf(await numberOn(owner, await store(owner, 3), sourceAccounts))).toEqual([
      [own, 6n],
      ['A', 102n],
      ['A', 103n],
    ])
    expect(await countersOf(owner)).toEqual([
      ['A', 104n],
      ['B', 2n ** 40n + 1n],
    ])
    expect(await counterOf(owner)).toBe(7n)
  })

  test('transactions without a free slot get no nonce, and stay unchanged', async () => {
    const owner = await account()
    const transactions = await store(owner, 4)
    const numbered = await numberOn(owner, transactions, [
      sourceAccount('A', 1n, 1),
      sourceAccount('B', 1n, 0),
      sourceAccount('C', 1n, 2),
    ])
    expect(externalNoncesOf(numbered)).toEqual([
      ['A', 1n],
      ['C', 1n],
      ['C', 2n],
    ])
    const [last] = transactions.slice(-1)
    if (!last) throw new Error('nothing was stored')
    const { transaction } = await reload(fixture.context, last)
    expect(transaction).toMatchObject({ status: 'pending', version: 1 })
    expect([transaction.sourceAccount, transaction.nonce]).toEqual([undefined, undefined])
    expect(await countersOf(owner)).toEqual([
      ['A', 2n],
      ['C', 3n],
    ])
  })

  test('without a source account nothing is numbered, and numbered transactions are signed', async () => {
    const owner = await account()
    const numbered = newTransaction(owner, { nonce: 3n, sourceAccount: owner.relayer.address })
    const [first] = await insert(fixture.context, numbered)
    if (!first) throw new Error('nothing was stored')
    const [waiting] = await store(owner, 1)
    if (!waiting) throw new Error('nothing was stored')
    const signed = await numberOn(owner, [first, waiting], [])
    expect(signed).toMatchObject([{ id: first.id, nonce: 3n, status: 'sent' }])
    expect((await reload(fixture.context, waiting)).transaction).toMatchObject({
      status: 'pending',
      version: 1,
    })
  })

  test('two source accounts may have the same nonce in two transactions, one may not (I2)', async () => {
    const owner = await account()
    const [a, b, c] = await store(owner, 3)
    if (!a || !b || !c) throw new Error('nothing was stored')
    await numberOn(owner, [a, b], [sourceAccount('A', 7n, 1), sourceAccount('B', 7n, 1)])
    const stealing = fixture.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...c, sourceAccount: 'A', nonce: 7n }]))
    await expect(stealing).rejects.toThrow('transactions_nonce')
  })

  test('concurrent steps assign each nonce of each source account once, without a gap (R5)', async () => {
    const owner = await account()
    const transactions = await store(owner, 30)
    const sourceAccounts = ['A', 'B', 'C'].map((address) => sourceAccount(address, 10n, 4))
    const steps = [transactions.slice(0, 12), transactions.slice(6, 20), transactions.slice(15)]
    await Promise.all(steps.map((step) => numberOn(owner, step, sourceAccounts)))
    const stored = await Promise.all(transactions.map((one) => reload(fixture.context, one)))
    const counters = await countersOf(owner)
    expect(counters.map(([address]) => address)).toEqual(['A', 'B', 'C'])
    for (const [address, next] of counters) {
      const nonces = stored.flatMap(({ transaction }) =>
        transaction.sourceAccount === address ? [transaction.nonce] : [],
      )
      const gapless = Array.from({ length: nonces.length }, (_, index) => 10n + BigInt(index))
      expect(nonces.sort((one, two) => Number(one) - Number(two))).toEqual(gapless)
      expect(next).toBe(10n + BigInt(nonces.length))
    }
  })
})
