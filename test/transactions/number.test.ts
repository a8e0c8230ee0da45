import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acquireLease, LeaseLostError, releaseLease } from '../../src/database/lease.ts'
import { numberTransactions } from '../../src/transactions/number.ts'
import { saveTransactions } from '../../src/transactions/store.ts'
import type { Transaction } from '../../src/transactions/transaction.ts'
import { insert, leaseOf, newTransaction, openRoom, type Room, reload, type TestAccount } from './room.ts'
import { chainOf, createWorld } from './world.ts'

let room: Room
beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())

const account = () => room.addAccount({ chain: chainOf(createWorld()) })
const store = (owner: TestAccount, count: number) =>
  insert(room.context, ...Array.from({ length: count }, () => newTransaction(owner)))
const noncesOf = (transactions: readonly Transaction[]) => transactions.map(({ nonce }) => nonce)

async function number(owner: TestAccount, transactions: readonly Transaction[], chainNonce = 0n) {
  const lease = await leaseOf(room.context, owner)
  return numberTransactions(room.context, { relayerId: owner.relayer.id, transactions, chainNonce, lease })
}

async function counterOf({ relayer }: TestAccount): Promise<bigint | null> {
  const row = await room.context.db
    .selectFrom('accounts')
    .select('next_nonce')
    .where('relayer_id', '=', relayer.id)
    .executeTakeFirstOrThrow()
  return row.next_nonce
}

describe('numbering', () => {
  test('goes on from the counter, in the order of acceptance, and starts where the chain is', async () => {
    const owner = await account()
    expect(noncesOf(await number(owner, await store(owner, 3), 40n))).toEqual([40n, 41n, 42n])
    expect(noncesOf(await number(owner, await store(owner, 2), 0n))).toEqual([43n, 44n])
    expect(await counterOf(owner)).toBe(45n)
  })

  test('follows the chain when something foreign has used nonces (R4), and never goes back (R6)', async () => {
    const owner = await account()
    await number(owner, await store(owner, 1), 10n)
    expect(noncesOf(await number(owner, await store(owner, 1), 15n))).toEqual([15n])
    expect(noncesOf(await number(owner, await store(owner, 1), 3n))).toEqual([16n])
  })

  test('a transaction keeps the nonce that it has', async () => {
    const owner = await account()
    const [first] = await number(owner, await store(owner, 1), 5n)
    if (!first) throw new Error('nothing was numbered')
    const again = await number(owner, [first, ...(await store(owner, 1))], 5n)
    expect(noncesOf(again)).toEqual([5n, 6n])
    expect(await counterOf(owner)).toBe(7n)
  })

  test('a row that was changed meanwhile gets none, and leaves no gap', async () => {
    const owner = await account()
    const [a, b, c] = await store(owner, 3)
    if (!a || !b || !c) throw new Error('nothing was stored')
    await room.context.db.transaction().execute((tx) => saveTransactions(tx, [{ ...b, status: 'canceled' }]))
    const numbered = await number(owner, [a, b, c])
    expect(numbered.map(({ id, nonce }) => [id, nonce])).toEqual([
      [a.id, 0n],
      [c.id, 1n],
    ])
    expect((await reload(room.context, b)).transaction.nonce).toBeUndefined()
    expect(await counterOf(owner)).toBe(2n)
  })

  test('crowds of steps at once give each nonce once, without a gap (R5)', async () => {
    const owner = await account()
    const transactions = await store(owner, 30)
    const steps = [transactions.slice(0, 12), transactions.slice(6, 20), transactions.slice(15)]
    await Promise.all(steps.map((step) => number(owner, step)))
    const stored = await Promise.all(transactions.map((transaction) => reload(room.context, transaction)))
    const nonces = stored.map(({ transaction }) => Number(transaction.nonce)).sort((a, b) => a - b)
    expect(nonces).toEqual(Array.from({ length: 30 }, (_, index) => index))
    expect(await counterOf(owner)).toBe(30n)
  })

  test('with a lost lease nothing is written, and no nonce is spent (R16)', async () => {
    const owner = await account()
    const lost = await leaseOf(room.context, owner)
    await releaseLease(room.context.db, lost)
    await acquireLease(room.context.db, { name: lost.name, owner: 'another process', ttlMs: 60_000 })
    const transactions = await store(owner, 2)
    const late = numberTransactions(room.context, {
      relayerId: owner.relayer.id,
      transactions,
      chainNonce: 9n,
      lease: lost,
    })
    await expect(late).rejects.toThrow(LeaseLostError)
    expect(await counterOf(owner)).toBeNull()
    for (const transaction of transactions) {
      expect((await reload(room.context, transaction)).transaction).toMatchObject({ version: 1 })
      expect((await reload(room.context, transaction)).transaction.nonce).toBeUndefined()
    }
  })
})
