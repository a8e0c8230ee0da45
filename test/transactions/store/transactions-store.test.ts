import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import {
  type AttemptNews,
  findAttempts,
  insertAttempts,
  type OutcomeChange,
  saveOutcomes,
} from '../../../src/transactions/store/attempts-store.ts'
import { reservedBy } from '../../../src/transactions/store/due-store.ts'
import { findTransaction, listTransactions } from '../../../src/transactions/store/lookups-store.ts'
import { insertTransactions, saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, draftOf, eip1559, legacy } from '../../chains/evm/build.ts'
import {
  eventsOf,
  type Fixture,
  insert,
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

const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })
const save = (...transactions: Transaction[]) =>
  fixture.context.db.transaction().execute((tx) => saveTransactions(tx, transactions))

let hashes = 0
function uniqueAttempt(change: Partial<EvmAttempt> = {}): EvmAttempt {
  hashes += 1
  const attempt = attemptOf(change.draft?.fees ?? eip1559(10n, 1n), change)
  return { ...attempt, signed: { ...attempt.signed, hash: `0x${hashes}` } }
}

/** A nonce is one of a line. */
const sourceAccountOf = ({ relayer }: TestAccount, { nonce }: Partial<Transaction>) =>
  nonce === undefined ? {} : { sourceAccount: relayer.address }

async function stored(owner: TestAccount, change: Partial<Transaction> = {}): Promise<Transaction> {
  const [transaction] = await insert(fixture.context, newTransaction(owner))
  if (!transaction) throw new Error('nothing was stored')
  if (Object.keys(change).length === 0) return transaction
  const [changed] = await save({ ...transaction, ...sourceAccountOf(owner, change), ...change })
  if (!changed) throw new Error('nothing was changed')
  return changed
}

describe('saveTransactions', () => {
  test('a stale version changes nothing and stores no event', async () => {
    const transaction = await stored(await account())
    const [first] = await save({ ...transaction, status: 'sent', statusReason: 'first' })
    expect(first?.version).toBe(transaction.version + 1)
    expect(await save({ ...transaction, status: 'failed', statusReason: 'second' })).toEqual([])
    const { transaction: now } = await reload(fixture.context, transaction)
    expect(now).toMatchObject({ status: 'sent', statusReason: 'first', version: 2 })
    expect(await eventsOf(fixture.context, transaction)).toEqual(['pending', 'sent'])
  })

  test('writes only the fresh ones of several transactions', async () => {
    const owner = await account()
    const [a, b] = [await stored(owner), await stored(owner)]
    await save({ ...a, status: 'sent' })
    const written = await save({ ...a, status: 'failed' }, { ...b, status: 'sent' })
    expect(written.map(({ id }) => id)).toEqual([b.id])
    expect((await reload(fixture.context, a)).transaction.status).toBe('sent')
  })

  test('lets exactly one of many writers of one version win', async () => {
    const transaction = await stored(await account())
    const written = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        save({ ...transaction, status: 'sent', statusReason: `writer ${index}` }),
      ),
    )
    expect(written.filter((rows) => rows.length === 1)).toHaveLength(1)
    expect(await eventsOf(fixture.context, transaction)).toEqual(['pending', 'sent'])
  })

  test('makes no event of a change that is no change of status or attempt', async () => {
    const transaction = await stored(await account())
    await save({ ...transaction, statusReason: 'waiting' })
    expect(await eventsOf(fixture.context, transaction)).toEqual(['pending'])
  })

  test('leaves neither the change nor the event when it is rolled back (I8)', async () => {
    const transaction = await stored(await account())
    const attempt = fixture.context.db.transaction().execute(async (tx) => {
      await saveTransactions(tx, [{ ...transaction, status: 'sent' }])
      throw new Error('the power went')
    })
    await expect(attempt).rejects.toThrow('the power went')
    expect((await reload(fixture.context, transaction)).transaction.status).toBe('pending')
    expect(await eventsOf(fixture.context, transaction)).toEqual(['pending'])
  })
})

describe('words of others that no database can keep', () => {
  // A contract decides what stands in its revert, and a long one is cut, perhaps in the middle of a surrogate pair.
  const WORDS = 'no\u0000 \ud83d'
  const KEPT = 'no\ufffd \ufffd'

  test('are stored without the unstorable characters, and do not block other rows', async () => {
    const owner = await account()
    const [transaction, other] = [await stored(owner), await stored(owner)]
    const written = await save(
      { ...transaction, status: 'sent', statusReason: WORDS },
      { ...other, status: 'sent' },
    )
    expect(written).toHaveLength(2)
    expect((await reload(fixture.context, transaction)).transaction.statusReason).toBe(KEPT)
  })

  test('lose the unstorable characters when a node says them about an attempt', async () => {
    const transaction = await stored(await account())
    const refusal = { transactionId: transaction.id, number: 1, outcome: 'refused', error: WORDS } as const
    await fixture.context.db.transaction().execute(async (tx) => {
      await insertAttempts(tx, [{ transactionId: transaction.id, attempt: uniqueAttempt() }])
      await saveOutcomes(tx, [refusal], { openOnly: true })
    })
    expect((await reload(fixture.context, transaction)).attempts).toMatchObject([{ error: KEPT }])
  })

  test('lose the unstorable characters in a transaction that is stored for the first time', async () => {
    const [transaction] = await insert(
      fixture.context,
      newTransaction(await account(), { statusReason: WORDS }),
    )
    if (!transaction) throw new Error('nothing was stored')
    expect((await reload(fixture.context, transaction)).transaction.statusReason).toBe(KEPT)
  })
})

describe('a nonce (I2)', () => {
  test('belongs to one transaction of an account', async () => {
    const owner = await account()
    await stored(owner, { nonce: 7n })
    const other = await stored(owner)
    await expect(save({ ...other, sourceAccount: other.from, nonce: 7n })).rejects.toThrow(
      'transactions_nonce',
    )
    expect((await reload(fixture.context, other)).transaction.nonce).toBeUndefined()
  })

  test('has an account', async () => {
    const transaction = await stored(await account())
    await expect(save({ ...transaction, sourceAccount: undefined, nonce: 7n })).rejects.toThrow(
      'transactions_source_account_check',
    )
  })

  test('may be the same in another account', async () => {
    await stored(await account(), { nonce: 7n })
    expect((await stored(await account(), { nonce: 7n })).nonce).toBe(7n)
  })
})

describe('attempts', () => {
  test('come back as they were, oldest first, and a hash is stored once', async () => {
    const transaction = await stored(await account())
    const attempts = [
      uniqueAttempt({
        number: 1,
        outcome: 'signed',
        draft: draftOf(legacy(2n ** 128n), { value: 2n ** 255n, data: '0x01', gasLimit: 1n }),
      }),
      uniqueAttempt({ number: 2, kind: 'cancel', signedAt: new Date('2030-01-01T00:00:00.001Z') }),
    ]
    const put = (list: readonly Attempt[]) =>
      fixture.context.db.transaction().execute((tx) =>
        insertAttempts(
          tx,
          list.map((attempt) => ({ transactionId: transaction.id, attempt })),
        ),
      )
    await put(attempts)
    expect((await findAttempts(fixture.context.db, [transaction])).get(transaction.id)).toEqual(attempts)
    await expect(
      put(attempts.map((attempt) => ({ ...attempt, number: attempt.number + 2 }))),
    ).rejects.toThrow('hash')
  })

  test('whose outcome is known already are not written again', async () => {
    const transaction = await stored(await account())
    const about = { transactionId: transaction.id, number: 1 }
    const write = (news: AttemptNews) =>
      fixture.context.db.transaction().execute((tx) => saveOutcomes(tx, [news], { openOnly: true }))
    const row = async () => {
      const { rows } = await sql<{ place: string }>`
        select ctid::text as place from attempts where transaction_id = ${transaction.id}`.execute(
        fixture.context.db,
      )
      return rows[0]?.place
    }
    await fixture.context.db
      .transaction()
      .execute((tx) => insertAttempts(tx, [{ transactionId: transaction.id, attempt: uniqueAttempt() }]))
    for (const news of [{ outcome: 'broadcast', broadcastAt: new Date(5) }, { error: 'time-out' }] as const) {
      await write({ ...about, ...news })
      const before = await row()
      expect(before).toMatch(/^\(\d+,\d+\)$/)
      await write({ ...about, ...news })
      expect(await row()).toBe(before)
    }
    expect((await reload(fixture.context, transaction)).attempts).toMatchObject([
      { outcome: 'broadcast', error: 'time-out', broadcastAt: new Date(5) },
    ])
  })

  const OUTCOMES: readonly {
    before: Attempt['outcome']
    said: OutcomeChange['outcome']
    openOnly: boolean
    want: string
  }[] = [
    { before: 'signed', said: 'broadcast', openOnly: true, want: 'broadcast' },
    { before: 'broadcast', said: 'refused', openOnly: true, want: 'refused' },
    // One node would not take it, another did: it is in a pool.
    { before: 'refused', said: 'broadcast', openOnly: true, want: 'broadcast' },
    // What the chain has decided, no node's late answer undoes.
    { before: 'mined', said: 'broadcast', openOnly: true, want: 'mined' },
    { before: 'reverted', said: 'broadcast', openOnly: true, want: 'reverted' },
    { before: 'superseded', said: 'refused', openOnly: true, want: 'superseded' },
    { before: 'mined', said: 'superseded', openOnly: false, want: 'superseded' },
  ]
  test.each(OUTCOMES)(
    '$before, then $said (late answer: $openOnly): $want',
    async ({ before, said, openOnly, want }) => {
      const transaction = await stored(await account())
      const change = { transactionId: transaction.id, number: 1, outcome: said, broadcastAt: new Date(5) }
      await fixture.context.db.transaction().execute(async (tx) => {
        await insertAttempts(tx, [
          { transactionId: transaction.id, attempt: uniqueAttempt({ outcome: before }) },
        ])
        await saveOutcomes(tx, [change], { openOnly })
        await saveOutcomes(tx, [{ ...change, broadcastAt: new Date(9) }], { openOnly })
      })
      const [attempt] = (await reload(fixture.context, transaction)).attempts
      expect(attempt?.outcome).toBe(want)
      // The first time that a node took it stays.
      if (want === said) expect(attempt?.broadcastAt).toEqual(new Date(5))
    },
  )
})

test('a reader sees a transaction and its attempts as they were at one moment', async () => {
  let transaction = await stored(await account(), { status: 'sent', nonce: 1n })
  const { id, relayerId } = transaction
  let isWriting = true
  const write = async () => {
    for (let number = 1; number <= 50; number += 1) {
      const attempt = uniqueAttempt({ number })
      transaction = await fixture.context.db.transaction().execute(async (tx) => {
        await insertAttempts(tx, [{ transactionId: id, attempt }])
        const [saved] = await saveTransactions(tx, [{ ...transaction, currentAttempt: number }])
        if (saved === undefined) throw new Error('nothing was saved')
        return saved
      })
    }
    isWriting = false
  }
  const read = async () => {
    while (isWriting) {
      const item = await findTransaction(fixture.context.db, relayerId, id)
      expect(item?.attempts.length).toBe(item?.transaction.currentAttempt ?? 0)
    }
  }
  await Promise.all([write(), read(), read()])
})

describe('reservedBy', () => {
  test('counts open transactions and nothing else, and leaves out the one that is being replaced', async () => {
    const owner = await account()
    const pending = await stored(owner, { cost: 1n })
    await stored(owner, { status: 'sent', cost: 10n, nonce: 0n })
    await stored(owner, { status: 'submitted', cost: 10n ** 30n, nonce: 1n })
    for (const status of ['mined', 'confirmed', 'failed', 'canceled', 'expired'] as const) {
      await stored(owner, { status, cost: 7n })
    }
    await stored(await account(), { cost: 1_000n })
    expect(await reservedBy(fixture.context.db, owner.relayer.id, { now: new Date() })).toBe(10n ** 30n + 11n)
    expect(
      await reservedBy(fixture.context.db, owner.relayer.id, { now: new Date(), except: pending.id }),
    ).toBe(10n ** 30n + 10n)
  })

  test('is zero for an account with nothing', async () => {
    expect(await reservedBy(fixture.context.db, (await account()).relayer.id, { now: new Date() })).toBe(0n)
  })
})

describe('listTransactions', () => {
  test('is newest first, in pages that fit together, with the true total', async () => {
    const owner = await account()
    const made = await insert(fixture.context, ...Array.from({ length: 7 }, () => newTransaction(owner)))
    const newestFirst = made.map(({ id }) => id).reverse()
    const relayerIds = [owner.relayer.id]
    const page = async (offset: number, limit: number) => {
      const { items, total } = await listTransactions(fixture.context.db, { relayerIds, offset, limit })
      expect(total).toBe(7)
      return items.map(({ transaction }) => transaction.id)
    }
    expect([...(await page(0, 3)), ...(await page(3, 3)), ...(await page(6, 3))]).toEqual(newestFirst)
    expect(await page(7, 3)).toEqual([])
    expect(await page(0, 0)).toEqual([])
  })

  test('filters by status and never shows those of another relayer', async () => {
    const owner = await account()
    const sent = await stored(owner, { status: 'sent' })
    await stored(owner)
    await stored(await account(), { status: 'sent' })
    const query = { relayerIds: [owner.relayer.id], offset: 0, limit: 10 }
    const { items, total } = await listTransactions(fixture.context.db, { ...query, status: 'sent' })
    expect({ total, ids: items.map(({ transaction }) => transaction.id) }).toEqual({
      total: 1,
      ids: [sent.id],
    })
  })
})

test('an insert that is rolled back leaves neither row nor event (I1, I8)', async () => {
  const transaction = newTransaction(await account())
  const insertion = fixture.context.db.transaction().execute(async (tx) => {
    await insertTransactions(tx, [transaction])
    throw new Error('the power went')
  })
  await expect(insertion).rejects.toThrow('the power went')
  await expect(reload(fixture.context, transaction)).rejects.toThrow('gone')
  expect(await eventsOf(fixture.context, transaction)).toEqual([])
})
