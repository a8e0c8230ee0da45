import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLedger } from '../../../src/spending/ledger.ts'
import { readSpent } from '../../../src/spending/spending-store.ts'
import { releaseBudgets } from '../../../src/transactions/budgets/settle.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { isOverdue, watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { spentOf } from '../../spending/build.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include } from '../stub-chain.ts'

describe('the second look at a final transaction', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** The time between two looks at final blocks, in ms. */
  const RECHECK_MS = 30_000

  /** Confirmed transactions, each in a block of its own from 100 on; depth is 2. */
  async function confirmed(count: number) {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const memory = createWatchMemory()
    const lookAtOnce = async (height: bigint, context = fixture.context) => {
      stub.head = headAt(height)
      await watchNetwork(context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
    }
    const look = (height: bigint) => {
      fixture.clock.advance(RECHECK_MS)
      return lookAtOnce(height)
    }
    const stored = await insert(
      fixture.context,
      ...Array.from({ length: count }, () => newTransaction(owner, { nextRunAt: new Date(0) })),
    )
    await workAccount(fixture.context, owner.relayer.id)
    const hashes = [...stub.broadcasted]
    stub.broadcasted.length = 0
    for (const [index, hash] of hashes.entries()) include(stub, hash, { blockNumber: 100n + BigInt(index) })
    stub.nonce = { kind: 'ok', value: BigInt(count) }
    await look(120n)
    await look(121n)
    const statuses = await Promise.all(
      stored.map(async (one) => (await reload(fixture.context, one)).transaction.status),
    )
    expect(new Set(statuses)).toEqual(new Set(['confirmed']))
    return { stub, owner, stored, hashes, look, lookAtOnce }
  }

  async function incidents({ id }: Transaction): Promise<unknown[]> {
    const rows = await fixture.database.db
      .selectFrom('events')
      .select(['type', 'payload'])
      .where('transaction_id', '=', id)
      .where('type', '=', 'transaction_reorganized')
      .orderBy('number')
      .execute()
    return rows.map(({ payload }) => (payload as { status_reason: string }).status_reason)
  }

  test('a confirmed transaction whose block is gone is announced, and the same bytes go out again', async () => {
    const { stub, stored, hashes, look } = await confirmed(3)
    stub.blocks.set(102n, '0xother102')
    stub.receipts.delete(hashes[2] ?? '')
    await look(122n)
    const [, second, third] = stored
    if (!second || !third) throw new Error('nothing was stored')
    const { transaction } = await reload(fixture.context, third)
    expect(transaction.status).toBe('confirmed')
    expect(transaction.block).toBeUndefined()
    expect(transaction.statusReason).toContain('Block 102 that included it is no longer in the chain')
    expect(await incidents(third)).toHaveLength(1)
    expect(await incidents(second)).toEqual([])
    expect(stub.broadcasted).toEqual([hashes[2]])

    include(stub, hashes[2] ?? '', { blockNumber: 130n })
    await look(131n)
    const again = (await reload(fixture.context, third)).transaction
    expect(again).toMatchObject({ status: 'confirmed', block: { number: 130n, hash: '0xblock130' } })
    expect(again.reorganizedAt).toBeUndefined()
    expect(await incidents(third)).toHaveLength(2)
    await look(132n)
    expect(await incidents(third)).toHaveLength(2)
  })

  test('every block above the last common one is found, however many there are', async () => {
    const { stub, stored, hashes, look } = await confirmed(8)
    for (let number = 103n; number < 108n; number += 1n) stub.blocks.set(number, `0xother${number}`)
    for (const hash of hashes.slice(3)) stub.receipts.delete(hash)
    await look(122n)
    const told = await Promise.all(stored.map(async (one) => (await incidents(one)).length))
    expect(told).toEqual([0, 0, 0, 1, 1, 1, 1, 1])
  })

  test.each([
    { name: 'was checked before', isChecked: true },
    { name: 'became final since the last check', isChecked: false },
  ])(
    'what becomes final on the new chain does not hide a lost transaction that $name',
    async ({ isChecked }) => {
      const { stub, owner, stored, hashes, look, lookAtOnce } = await confirmed(1)
      const [lost] = stored
      if (!lost) throw new Error('nothing was stored')
      if (isChecked) await look(122n)
      stub.blocks.set(100n, '0xother100')
      stub.receipts.delete(hashes[0] ?? '')
      const [other] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
      if (!other) throw new Error('nothing was stored')
      await workAccount(fixture.context, owner.relayer.id)
      include(stub, stub.broadcasted.at(-1) ?? '', { blockNumber: 125n })
      stub.nonce = { kind: 'ok', value: 2n }
      await lookAtOnce(140n)
      await lookAtOnce(141n)
      expect((await reload(fixture.context, other)).transaction.status).toBe('confirmed')
      expect(await incidents(lost)).toEqual([])
      await look(142n)
      expect(await incidents(lost)).toHaveLength(1)
      expect(await incidents(other)).toEqual([])
    },
  )

  test.each([
    { name: 'still is', isBehind: true },
    { name: 'no longer is', isBehind: false },
  ])(
    'what became final while the time of day was behind is checked as well, when it $name',
    async ({ isBehind }) => {
      const { stub, owner, lookAtOnce } = await confirmed(1)
      const { clock } = fixture
      const behind = { ...fixture.context, clock: { ...clock, now: () => clock.now() - 3_600_000 } }
      const pay = async ({ nonce, block }: { readonly nonce: bigint; readonly block: bigint }) => {
        const [stored] = await insert(behind, newTransaction(owner, { nextRunAt: new Date(0) }))
        if (!stored) throw new Error('nothing was stored')
        await workAccount(behind, owner.relayer.id)
        const hash = stub.broadcasted.at(-1) ?? ''
        include(stub, hash, { blockNumber: block })
        stub.nonce = { kind: 'ok', value: nonce + 1n }
        await lookAtOnce(block + 10n, behind)
        await lookAtOnce(block + 11n, behind)
        const { transaction } = await reload(fixture.context, stored)
        expect(transaction.status).toBe('confirmed')
        return { stored, hash, block }
      }
      const lost = await pay({ nonce: 1n, block: 125n })
      stub.blocks.set(lost.block, '0xother')
      stub.receipts.delete(lost.hash)
      await pay({ nonce: 2n, block: 150n })
      clock.advance(RECHECK_MS)
      await lookAtOnce(170n, isBehind ? behind : fixture.context)
      expect(await incidents(lost.stored)).toHaveLength(1)
    },
  )

  test('a node that does not tell the block says nothing', async () => {
    const { stub, stored, look } = await confirmed(1)
    stub.blocks.clear()
    await look(122n)
    const [only] = stored
    if (!only) throw new Error('nothing was stored')
    expect(await incidents(only)).toEqual([])
    expect(stub.broadcasted).toEqual([])
  })

  test('what it did not spend of its budget counts again, until a block decides once more', async () => {
    const { stub, stored, hashes, look } = await confirmed(1)
    const [only] = stored
    if (!only) throw new Error('nothing was stored')
    const { db } = fixture.database
    const counter = { subject: 'key:one', network: `evm:${only.network}`, asset: 'native' }
    const at = new Date(fixture.clock.now())
    const charge = { network: counter.network, amounts: [{ asset: 'native', value: 60n }], fees: 5n }
    const spender = {
      subject: counter.subject,
      rules: { limits: [{ per: 'day', asset: 'native', value: 60n }] },
    } as const
    await db.transaction().execute(async (tx) => {
      const ledger = await openLedger(tx, { now: at })
      ledger.reserve({ transactionId: only.id, spenders: [spender], charge })
      ledger.settle(only.id, () => spentOf(0, 3, 1))
      await ledger.save()
    })
    const spent = async () =>
      (await readSpent(db, [{ counter, period: 'day' }], new Date(fixture.clock.now())))(counter, 'day')
    expect(await spent()).toEqual(spentOf(0, 3, 1))
    stub.blocks.set(100n, '0xother100')
    stub.receipts.delete(hashes[0] ?? '')
    await look(122n)
    await releaseBudgets(fixture.context)
    expect(await spent()).toEqual(spentOf(60, 5, 1))
    include(stub, hashes[0] ?? '', { blockNumber: 125n, success: false })
    await look(130n)
    await releaseBudgets(fixture.context)
    expect(await spent()).toMatchObject({ value: 0n, count: 1 })
  })

  test('where another attempt is included after the reorganisation, the record ends as that one asks', async () => {
    const { stub, stored, hashes, look } = await confirmed(1)
    const [only] = stored
    if (!only) throw new Error('nothing was stored')
    stub.blocks.set(100n, '0xother100')
    stub.receipts.delete(hashes[0] ?? '')
    await look(122n)
    include(stub, hashes[0] ?? '', { blockNumber: 125n, success: false, failure: 'paused' })
    await look(130n)
    const { transaction, attempts } = await reload(fixture.context, only)
    expect(transaction).toMatchObject({ status: 'failed', block: { number: 125n } })
    expect(transaction.statusReason).toContain('It was reverted: paused')
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['reverted'])
  })

  test('finality by the word of the network: depth is not enough, and unknown is no', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const memory = createWatchMemory()
    const [stored] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
    if (!stored) throw new Error('nothing was stored')
    await workAccount(fixture.context, owner.relayer.id)
    include(stub, stub.broadcasted[0] ?? '')
    stub.nonce = { kind: 'ok', value: 1n }
    const look = async (number: bigint, finalNumber: bigint | 'unknown') => {
      stub.head = { kind: 'ok', value: { number, hash: `0x${number}`, finalNumber } }
      await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
      return (await reload(fixture.context, stored)).transaction.status
    }
    expect(await look(150n, 99n)).toBe('mined')
    expect(await look(151n, 'unknown')).toBe('mined')
    expect(await look(152n, 99n)).toBe('mined')
    expect(await look(153n, 100n)).toBe('confirmed')
  })
})

describe('finality', () => {
  const COUNT = 450

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture({ maxInFlight: COUNT })
  })
  afterAll(() => fixture.close())

  /** Endpoints that answer one request for the receipts of many transactions in each round, and then no other one. */
  test('what slow endpoints answered in a round is final, and the next round goes on from there', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    await insert(
      fixture.context,
      ...Array.from({ length: COUNT }, () => newTransaction(owner, { nextRunAt: new Date(0) })),
    )
    await workAccount(fixture.context, owner.relayer.id)
    for (const hash of stub.broadcasted) include(stub, hash)
    stub.nonce = { kind: 'ok', value: BigInt(COUNT) }
    const memory = createWatchMemory()
    const look = async (height: bigint) => {
      stub.head = headAt(height)
      await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
    }
    await look(100n)
    const rounds: number[] = []
    for (const height of [110n, 111n, 112n]) {
      let answered = false
      stub.override = {
        endpoints: () => [{}, {}] as never,
        receiptsEverywhere: async (hashes) => {
          if (answered) throw new Error('the round ends here')
          answered = true
          return [hashes, hashes].map((some) =>
            some.map((hash) => stub.receipts.get(hash) ?? { kind: 'none' }),
          )
        },
      }
      await look(height).catch(() => undefined)
      rounds.push(await countConfirmed(owner.relayer.id))
    }
    expect(rounds).toEqual([200, 400, COUNT])
  })

  async function countConfirmed(relayerId: string): Promise<number> {
    const rows = await fixture.database.db
      .selectFrom('transactions')
      .select('id')
      .where('relayer_id', '=', relayerId)
      .where('status', '=', 'confirmed')
      .execute()
    return rows.length
  }
})

const PRIVATE = { isPrivate: true, privateSinceBlock: 10n } as const

test.each<[string, Partial<Transaction>, bigint, boolean]>([
  ['has one block left', PRIVATE, 14n, false],
  ['has had its blocks', PRIVATE, 15n, true],
  ['is seen late', PRIVATE, 90n, true],
  ['is public already', { ...PRIVATE, madePublicAt: new Date(0) }, 90n, false],
  ['was never broadcast', { isPrivate: true }, 90n, false],
  ['is not private', { privateSinceBlock: 10n }, 90n, false],
])('a transaction that %s', (_name, change, head, expected) => {
  const { transaction } = itemOf([{}], change)
  expect(isOverdue(transaction, { head, blocks: 5 })).toBe(expected)
})
