import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LeaseLostError } from '../../../src/database/lease.ts'
import type { Transaction, TransactionStatus } from '../../../src/transactions/model/transaction.ts'
import {
  findAttempts,
  findHashOwners,
  insertAttempts,
} from '../../../src/transactions/store/attempts-store.ts'
import { countByStatus, countTransactions } from '../../../src/transactions/store/finished-store.ts'
import { EVERYONE, findKeys, insertKeys } from '../../../src/transactions/store/idempotency-store.ts'
import {
  findUsedExternalNonces,
  findUsedNonces,
  lockAccount,
  lockCounters,
  setNextNonce,
} from '../../../src/transactions/store/nonce-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, eip1559, FROM, TO } from '../../chains/evm/build.ts'
import { type Fixture, insert, leaseOf, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('lookups', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })
  const transaction = <T>(
    run: Parameters<ReturnType<Fixture['database']['db']['transaction']>['execute']>[0],
  ) => fixture.database.db.transaction().execute(run) as Promise<T>

  describe('the counters of an account', () => {
    test('are those of its source accounts that have one; a counter without a number is absent', async () => {
      const [{ relayer }, other] = [await account(), await account()]
      const counters = await transaction(async (tx) => {
        const set = (address: string, nonce: bigint | null) =>
          setNextNonce(tx, { relayerId: relayer.id, address, nonce })
        await set(relayer.address, 4n)
        await set(relayer.address, 5n)
        await set(TO, 7n)
        await set(TO, null)
        await setNextNonce(tx, { relayerId: other.relayer.id, address: FROM, nonce: 9n })
        return lockAccount(tx, relayer.id)
      })
      expect(counters).toEqual(new Map([[relayer.address, 5n]]))
    })
  })

  describe('the used nonces of third parties', () => {
    test('are the pairs of address and nonce that a transaction of the relayer has', async () => {
      const [owner, other] = [await account(), await account()]
      await insert(
        fixture.context,
        newTransaction(owner, { sourceAccount: TO, nonce: 5n }),
        newTransaction(owner, { sourceAccount: TO, nonce: 6n, status: 'confirmed' }),
        newTransaction(owner, { sourceAccount: FROM, nonce: 5n }),
        newTransaction(owner, { sourceAccount: TO, nonce: 8n }),
        newTransaction(owner, { sourceAccount: '0xother', nonce: 5n }),
        newTransaction(other, { sourceAccount: TO, nonce: 7n }),
      )
      const asked = [5n, 6n, 7n].map((nonce) => ({ address: TO, nonce }))
      const find = (externalNonces: Parameters<typeof findUsedExternalNonces>[2]) =>
        transaction((tx) => findUsedExternalNonces(tx, owner.relayer.id, externalNonces))
      expect(await find(asked)).toEqual(new Set([`${TO} 5`, `${TO} 6`]))
      expect(await find([])).toEqual(new Set())
    })
  })

  test('the counters are locked under the lease only, and exact beyond 2^53', async () => {
    const owner = await account()
    const lease = await leaseOf(fixture.context, owner)
    const relayerId = owner.relayer.id
    const counters = await transaction<ReadonlyMap<string, bigint>>(async (tx) => {
      await setNextNonce(tx, { relayerId, address: TO, nonce: 2n ** 62n })
      await setNextNonce(tx, { relayerId, address: FROM, nonce: null })
      return lockCounters(tx, { relayerId, lease })
    })
    expect(counters).toEqual(new Map([[TO, 2n ** 62n]]))
    const locking = transaction((tx) => lockCounters(tx, { relayerId, lease: { ...lease, fence: 9n } }))
    await expect(locking).rejects.toThrow(LeaseLostError)
  })

  test('the used nonces of a range are those of the same source account and network', async () => {
    const [owner, other] = [await account(), await account()]
    const [head] = await insert(
      fixture.context,
      newTransaction(owner, { nonce: 9n }),
      newTransaction(owner, { nonce: 4n }),
      newTransaction(owner, { nonce: 5n, status: 'failed' }),
      newTransaction(owner, { nonce: 7n }),
      newTransaction(owner, { nonce: 8n }),
      newTransaction(owner, { nonce: 6n, sourceAccount: TO }),
      newTransaction(owner, { nonce: 6n, network: 'another' }),
      newTransaction(other, { nonce: 6n, sourceAccount: owner.relayer.address }),
    )
    if (!head) throw new Error('nothing was stored')
    const range = { from: 5n, to: 8n }
    expect(await findUsedNonces(fixture.database.db, head, range)).toEqual(new Set([5n, 7n]))
    const ofOld = { ...head, sourceAccount: undefined }
    expect(await findUsedNonces(fixture.database.db, ofOld, range)).toEqual(new Set([5n, 7n]))
  })

  test('idempotency keys belong to one relayer, and to the API key that chose them', async () => {
    const [owner, other] = [await account(), await account()]
    const { relayer } = owner
    const record = async (key: string, { from = owner, maker = 'shop' } = {}) => {
      const [stored] = await insert(fixture.context, newTransaction(from))
      return { key, maker, fingerprint: `body of ${key}`, transactionId: stored?.id ?? '' }
    }
    const [one, two, three] = [
      await record('one'),
      await record('one', { maker: 'stranger' }),
      await record('three', { maker: EVERYONE }),
    ]
    const foreign = await record('four', { from: other })
    await transaction(async (tx) => {
      await insertKeys(tx, relayer.id, [one, two, three])
      await insertKeys(tx, other.relayer.id, [foreign])
      await insertKeys(tx, relayer.id, [])
    })
    const find = async (maker: string, ...keys: readonly string[]) => {
      const names = keys.map((key) => ({ key, maker }))
      const found = await findKeys(fixture.database.db, relayer.id, names)
      return names.map((name) => found.get(name))
    }
    expect(await find('shop', 'one', 'three', 'four', 'five')).toEqual([one, undefined, undefined, undefined])
    expect(await find('stranger', 'one')).toEqual([two])
    expect(await find('other', 'one')).toEqual([undefined])
    expect(await find(EVERYONE, 'one', 'three')).toEqual([undefined, three])
    expect(await find('shop')).toEqual([])
  })

  describe('attempts', () => {
    test('are found by their hash, and by their transaction in order', async () => {
      const owner = await account()
      const [one, two, three] = await insert(
        fixture.context,
        newTransaction(owner),
        newTransaction(owner),
        newTransaction(owner),
      )
      if (!one || !two || !three) throw new Error('nothing was stored')
      const attempt = (number: number, hash: string) => {
        const built = attemptOf(eip1559(10n, 1n), { number })
        return { ...built, signed: { ...built.signed, hash } }
      }
      await transaction((tx) =>
        insertAttempts(tx, [
          { transactionId: two.id, attempt: attempt(2, '0xfour') },
          { transactionId: two.id, attempt: attempt(1, '0xthree') },
          { transactionId: one.id, attempt: attempt(2, '0xtwo') },
          { transactionId: one.id, attempt: attempt(1, '0xone') },
        ]),
      )
      const { db } = fixture.database
      expect(await findHashOwners(db, ['0xone', '0xfour', '0xfive'])).toEqual(
        new Map([
          ['0xone', one.id],
          ['0xfour', two.id],
        ]),
      )
      expect(await findHashOwners(db, [])).toEqual(new Map())
      const found = await findAttempts(db, [one, three])
      expect([...found.keys()]).toEqual([one.id, three.id])
      expect(found.get(one.id)?.map(({ signed }) => signed.hash)).toEqual(['0xone', '0xtwo'])
      expect(found.get(three.id)).toEqual([])
      expect(await findAttempts(db, [])).toEqual(new Map())
    })
  })
})

describe('the store of finished transactions', () => {
  let fixture: Fixture
  let owner: TestAccount
  beforeAll(async () => {
    fixture = await openFixture()
    owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  })
  afterAll(() => fixture.close())

  const save = (transactions: readonly Transaction[]) =>
    fixture.context.db.transaction().execute((tx) => saveTransactions(tx, transactions))

  const STATUSES: readonly TransactionStatus[] = [
    'pending',
    'sent',
    'submitted',
    'mined',
    'confirmed',
    'canceled',
    'expired',
    'failed',
  ]

  async function countOf(wanted: TransactionStatus): Promise<number> {
    const counts = await countByStatus(fixture.context.db, new Date())
    return counts.find(({ status }) => status === wanted)?.count ?? 0
  }

  /** Held against what counting every row says. */
  async function expectExact(): Promise<void> {
    for (const status of [undefined, ...STATUSES]) {
      const { rows } = await sql<{ count: bigint }>`
      select count(*) from transactions where relayer_id = ${owner.relayer.id}
        and (${status ?? null}::text is null or status = ${status ?? null})`.execute(fixture.context.db)
      const counted = await countTransactions(fixture.context.db, { relayerIds: [owner.relayer.id], status })
      expect({ status, counted }).toEqual({ status, counted: Number(rows[0]?.count) })
      if (status !== undefined) expect(await countOf(status)).toBe(counted)
    }
  }

  describe('the number of transactions', () => {
    test('is exact in every status, for rows that end together, alone, and not at all', async () => {
      const stored = await insert(fixture.context, ...Array.from({ length: 40 }, () => newTransaction(owner)))
      await expectExact()
      await save(stored.map((one, index) => ({ ...one, status: STATUSES[index % 8] ?? 'pending' })))
      await expectExact()
      await save([])
      await expectExact()
    })

    test('counts a row once when many say at the same time that it ended', async () => {
      const stored = await insert(fixture.context, newTransaction(owner), newTransaction(owner))
      const ended = stored.map((one): Transaction => ({ ...one, status: 'confirmed' }))
      await Promise.all(Array.from({ length: 8 }, () => save(ended)))
      await expectExact()
    })

    test('is that of before after a rollback', async () => {
      const [one] = await insert(fixture.context, newTransaction(owner))
      if (one === undefined) throw new Error('nothing was stored')
      const rolledBack = fixture.context.db.transaction().execute(async (tx) => {
        await saveTransactions(tx, [{ ...one, status: 'failed' }])
        throw new Error('no')
      })
      await expect(rolledBack).rejects.toThrow('no')
      await expectExact()
    })

    test('knows rows that are final from the start, and nothing of other relayers', async () => {
      const other = await fixture.addAccount({ chain: chainOf(createStubChain()) })
      await insert(fixture.context, { ...newTransaction(owner), status: 'failed' })
      await insert(fixture.context, { ...newTransaction(other), status: 'failed' })
      await expectExact()
    })
  })
})
