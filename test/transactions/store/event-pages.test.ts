import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextEvents } from '../../../src/events/follow.ts'
import { PAGE_BYTES } from '../../../src/events/store.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { encodeRequest } from '../../../src/transactions/store/codec.ts'
import { readSnapshots } from '../../../src/transactions/store/event-payload-store.ts'
import { announceIncident, saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('pages of events', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** The largest data that a transaction can have (EIP-3860 twice), in hex digits. */
  const DATA = `0x${'ab'.repeat(131_072)}`

  test('a page counts the content of the transactions, which events share with them', async () => {
    const { context } = fixture
    const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    await insert(
      context,
      ...Array.from({ length: 20 }, () => newTransaction(owner, { request: requestOf({ data: DATA }) })),
    )
    const pages: number[] = []
    for (let after = 0n; ; ) {
      const page = await nextEvents(context.db, { after, limit: 100 })
      const last = page.at(-1)
      if (last === undefined) break
      after = last.number
      const shown = await readSnapshots(context.db, page)
      const contents = [...shown.values()].map(({ transaction }) =>
        JSON.stringify(encodeRequest(transaction.request)),
      )
      pages.push(contents.join('').length)
    }
    expect(pages.length).toBeGreaterThan(9)
    expect(Math.max(...pages)).toBeLessThan(PAGE_BYTES + 2 * DATA.length)
  })
})

describe('event payload store', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** A transaction with one signed attempt. */
  async function signed(): Promise<Transaction> {
    const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    const [transaction] = await insert(
      fixture.context,
      newTransaction(owner, {
        status: 'sent',
        nonce: 5n,
        sourceAccount: owner.relayer.address,
      }),
    )
    if (!transaction) throw new Error('nothing was stored')
    const attempt = attemptOf(eip1559(10n, 1n), { number: 1, outcome: 'signed' })
    const unique = { ...attempt, signed: { ...attempt.signed, hash: transaction.id } }
    await fixture.context.db
      .transaction()
      .execute((tx) => insertAttempts(tx, [{ transactionId: transaction.id, attempt: unique }]))
    return transaction
  }

  /** Saves the change, and returns the transaction as it is then. */
  async function save(before: Transaction, change: Partial<Transaction>): Promise<Transaction> {
    await fixture.context.db.transaction().execute((tx) => saveTransactions(tx, [{ ...before, ...change }]))
    return (await reload(fixture.context, before)).transaction
  }

  test('an event shows the request and the purpose of its time', async () => {
    const first = await signed()
    const replaced = await save(first, { currentAttempt: 1, request: requestOf({ value: 2n ** 70n }) })
    const second = await save(replaced, { status: 'submitted' })
    const third = await save(second, { status: 'sent', request: requestOf({ value: 3n }), purpose: 'cancel' })
    expect(await contentOfEvents(first)).toEqual([
      { request: first.request, purpose: 'request', status: 'sent' },
      { request: second.request, purpose: 'request', status: 'sent' },
      { request: second.request, purpose: 'request', status: 'submitted' },
      { request: third.request, purpose: 'cancel', status: 'sent' },
    ])
  })

  test('a change that keeps the request leaves the stored one, and its events show the former purpose', async () => {
    const { id, request, ...state } = await signed()
    const changed = {
      ...state,
      id,
      request: requestOf({ value: 7n }),
      purpose: 'abandon',
      status: 'submitted',
    } as const
    await fixture.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [changed], { keepsRequest: true }))
    expect(await contentOfEvents({ id })).toEqual([
      { request, purpose: 'request', status: 'sent' },
      { request, purpose: 'abandon', status: 'submitted' },
    ])
  })

  test.each([1, 2])(
    'a replacement after statement %i of the reading changes no earlier event',
    async (statement) => {
      const first = await signed()
      let statements = 0
      const replacing = fixture.context.db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          statements += 1
          if (statements === statement)
            await save(first, { request: requestOf({ value: 3n }), purpose: 'cancel' })
          return result
        },
      })
      expect(await contentOfEvents(first, replacing)).toEqual([
        { request: first.request, purpose: 'request', status: 'sent' },
      ])
      expect(statements).toBeGreaterThanOrEqual(statement)
    },
  )

  test('events of changes and of incidents have exact integers beyond 2^53', async () => {
    const nonce = 2n ** 62n + 1n
    const block = { number: 2n ** 54n + 1n, hash: '0x1' }
    const stored = await save(await signed(), { currentAttempt: 1, nonce, block })
    await fixture.context.db
      .transaction()
      .execute((tx) => announceIncident(tx, 'transaction_stuck', [stored.id]))
    const snapshots = await snapshotsOf(stored)
    expect(
      [...snapshots]
        .sort(([one], [other]) => Number(one - other))
        .map(([, { transaction }]) => [transaction.nonce, transaction.block?.number]),
    ).toEqual([
      [5n, undefined],
      [nonce, 2n ** 54n + 1n],
      [nonce, 2n ** 54n + 1n],
    ])
  })

  async function snapshotsOf({ id }: Pick<Transaction, 'id'>, db = fixture.context.db) {
    const { rows } = await sql<{ number: bigint }>`
    select number from events where transaction_id = ${id} order by number`.execute(fixture.context.db)
    return readSnapshots(
      db,
      rows.map(({ number }) => ({ number, transactionId: id })),
    )
  }

  /** The content that each event about the transaction shows, oldest first. */
  async function contentOfEvents(about: Pick<Transaction, 'id'>, db = fixture.context.db): Promise<object[]> {
    const snapshots = [...(await snapshotsOf(about, db))].sort(([one], [other]) => Number(one - other))
    return snapshots.map(
      ([
        ,
        {
          transaction: { request, purpose, status },
        },
      ]) => ({ request, purpose, status }),
    )
  }
})
