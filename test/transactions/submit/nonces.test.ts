import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BroadcastResult } from '../../../src/chains/answer.ts'
import { raiseKnownNonce } from '../../../src/relayers/store.ts'
import { currentAttempt } from '../../../src/transactions/broadcast/broadcast.ts'
import { applyResult } from '../../../src/transactions/broadcast/settle-broadcast.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { findExplainedNonces, setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { findUnexplained } from '../../../src/transactions/submit/number-and-sign.ts'
import { expired, included } from '../../../src/transactions/watch/resolution.ts'
import { reorged } from '../../../src/transactions/watch/resolve.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('nonces that went back', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** A relayer whose transaction with nonce 7 is confirmed. */
  async function setUp() {
    const stub = createStubChain()
    stub.nonce = { kind: 'ok', value: 8n }
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const sourceAccount = owner.relayer.address
    await insert(fixture.context, newTransaction(owner, { status: 'confirmed', nonce: 7n, sourceAccount }))
    const send = async (value: bigint) => {
      const transaction = newTransaction(owner, { request: requestOf({ value }), nextRunAt: new Date(0) })
      await insert(fixture.context, transaction)
      return transaction
    }
    const step = async () => {
      fixture.clock.advance(60_000)
      await workAccount(fixture.context, owner.relayer.id)
    }
    const nonceOf = async (transaction: Awaited<ReturnType<typeof send>>) =>
      (await reload(fixture.context, transaction)).transaction.nonce
    return { stub, send, step, nonceOf }
  }

  test('a chain that has a confirmed nonce next gets no transaction, from the first step on', async () => {
    const { stub, send, step, nonceOf } = await setUp()
    stub.nonce = { kind: 'ok', value: 7n }
    const waiting = await send(1n)
    await step()
    expect(await nonceOf(waiting)).toBeUndefined()
    expect(stub.broadcasted).toEqual([])
    // An endpoint that lagged has caught up.
    stub.nonce = { kind: 'ok', value: 8n }
    await step()
    expect(await nonceOf(waiting)).toBe(8n)
  })

  test('a nonce that falls while the service runs is noticed', async () => {
    const { stub, send, step, nonceOf } = await setUp()
    const first = await send(1n)
    await step()
    expect(await nonceOf(first)).toBe(8n)
    stub.nonce = { kind: 'ok', value: 0n }
    const second = await send(2n)
    await step()
    expect(await nonceOf(second)).toBeUndefined()
    expect(fixture.logLines.at(-1)?.msg).toContain(
      'next nonce on the chain belongs to a confirmed transaction',
    )
  })
})

describe('unexplained nonces', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const addAccount = (policies = {}) => {
    const stub = createStubChain()
    return fixture.addAccount({ chain: chainOf(stub), policies }).then((owner) => ({ owner, stub }))
  }
  const unexplained = ({ relayer }: TestAccount, chainNonce: bigint) =>
    findUnexplained({ db: fixture.context.db }, relayer, {
      sourceAccounts: [{ address: relayer.address, chainNonce }],
    })

  describe('nonces that the chain has used', () => {
    test('are explained for an account that is seen for the first time, and not beyond', async () => {
      const { owner } = await addAccount()
      const { address } = owner.relayer
      expect(await unexplained(owner, 40n)).toEqual([])
      expect(await unexplained(owner, 39n)).toEqual([])
      expect(await unexplained(owner, 41n)).toEqual([{ address, chainNonce: 41n, explained: 40n }])
    })

    test('are explained by the counter, by stored transactions, and by what an operator accepted', async () => {
      const { owner } = await addAccount()
      const { id: relayerId, address } = owner.relayer
      await unexplained(owner, 0n)
      await fixture.context.db
        .transaction()
        .execute((tx) => setNextNonce(tx, { relayerId, address, nonce: 3n }))
      expect(await unexplained(owner, 3n)).toEqual([])
      await insert(fixture.context, newTransaction(owner, { nonce: 6n, sourceAccount: address }))
      expect(await unexplained(owner, 7n)).toEqual([])
      expect(await unexplained(owner, 9n)).toEqual([{ address, chainNonce: 9n, explained: 7n }])
      await raiseKnownNonce(fixture.context.db, { relayerId, address, nonce: 9n })
      expect(await unexplained(owner, 9n)).toEqual([])
    })

    test('stay explained when a counter is given up', async () => {
      const { owner } = await addAccount()
      const { id: relayerId, address } = owner.relayer
      await fixture.context.db.transaction().execute(async (tx) => {
        await setNextNonce(tx, { relayerId, address, nonce: 5n })
        await setNextNonce(tx, { relayerId, address, nonce: null })
      })
      const explained = await findExplainedNonces(fixture.context.db, owner.relayer, [address])
      expect(explained.get(address)).toBe(5n)
    })

    test('of an account that other programs use need no explanation', async () => {
      const { owner } = await addAccount({ sharedAccount: true })
      await unexplained(owner, 1n)
      expect(await unexplained(owner, 99n)).toEqual([])
    })

    test('of content that only its caller sends are explained nearby, and not far ahead', async () => {
      const { owner } = await addAccount()
      const { id: relayerId, address } = owner.relayer
      await unexplained(owner, 10n)
      await raiseKnownNonce(fixture.context.db, { relayerId, address, nonce: 2n ** 62n, within: 1_000n })
      expect(await unexplained(owner, 11n)).toHaveLength(1)
      await raiseKnownNonce(fixture.context.db, { relayerId, address, nonce: 11n, within: 1_000n })
      expect(await unexplained(owner, 11n)).toEqual([])
    })
  })

  test('nothing is signed while the chain is ahead of the records, and the health of the relayer is checked', async () => {
    const { owner, stub } = await addAccount()
    const checked: string[] = []
    const context = { ...fixture.context, checkHealth: async ({ id }: { id: string }) => checked.push(id) }
    const [first] = await insert(context, newTransaction(owner, { nextRunAt: new Date(0) }))
    await workAccount(context, owner.relayer.id)
    expect(first && (await reload(context, first)).transaction).toMatchObject({
      nonce: 0n,
      status: 'submitted',
    })
    expect(checked).toEqual([])
    stub.nonce = { kind: 'ok', value: 2n }
    const [second] = await insert(context, newTransaction(owner, { nextRunAt: new Date(0) }))
    const before = stub.broadcasted.length
    await workAccount(context, owner.relayer.id)
    expect(second && (await reload(context, second)).transaction).toMatchObject({
      status: 'pending',
      version: 1,
    })
    expect(stub.broadcasted).toHaveLength(before)
    expect(checked).toEqual([owner.relayer.id])
  })

  test.each([
    ['waited', 2_001, 'pending'],
    ['was just accepted', 0, 'submitted'],
  ] as const)(
    'what %s meets a pool with a nonce that the records do not explain',
    async (_what, ageMs, status) => {
      const { owner, stub } = await addAccount()
      const sequencing = { nonces: async () => [stub.nonce], pendingNonce: async () => 1n }
      stub.override = { sequencing }
      const checked: string[] = []
      const context = { ...fixture.context, checkHealth: async ({ id }: { id: string }) => checked.push(id) }
      await unexplained(owner, 0n)
      const createdAt = new Date(context.clock.now() - ageMs)
      const [waiting] = await insert(context, newTransaction(owner, { createdAt, nextRunAt: new Date(0) }))
      await workAccount(context, owner.relayer.id)
      expect(waiting && (await reload(context, waiting)).transaction).toMatchObject({ status })
      expect(checked).toEqual(status === 'pending' ? [owner.relayer.id] : [])
    },
  )
})

const NOW = new Date('2030-01-01T00:00:00.000Z')
const inMs = (ms: number) => new Date(NOW.getTime() + ms)

/** As a chain without nonces, whose content lapses and is offered again every two seconds. */
function settle(result: BroadcastResult, change: Partial<Transaction> = {}) {
  const item = itemOf([{ outcome: 'signed' }], { status: 'sent', ...change })
  const attempt = currentAttempt(item)
  if (!attempt) throw new Error('no current attempt')
  return applyResult({
    item,
    attempt,
    result,
    now: NOW,
    costOf: () => 1n,
    expires: true,
    numbered: false,
    rebroadcastAfterMs: 2_000,
  })
}

describe('what has no nonce', () => {
  test('is broadcast again soon, because no mempool keeps it', () => {
    expect(settle({ kind: 'accepted' }).transaction).toMatchObject({
      status: 'submitted',
      nextRunAt: inMs(2_000),
    })
  })

  test('waits for the proof of absence after a permanent refusal, and nothing is signed in its place', () => {
    const { transaction, outcome } = settle({ kind: 'refused', detail: 'no signature' })
    expect(transaction).toMatchObject({
      status: 'sent',
      purpose: 'abandon',
      statusReason: 'The node refused it permanently: no signature',
      nextRunAt: inMs(240_000),
    })
    // Nothing is decided: one node may have taken it all the same.
    expect(outcome).toEqual({ transactionId: 'tx', number: 1, error: 'no signature' })
  })

  test('keeps what the caller wants instead when it is refused permanently', () => {
    const { transaction } = settle({ kind: 'refused', detail: 'no signature' }, { purpose: 'cancel' })
    expect(transaction.purpose).toBe('cancel')
  })

  test('fails when its absence is proved', () => {
    const item = itemOf([{ outcome: 'signed' }], { status: 'sent', purpose: 'abandon' })
    const { transaction } = expired(item, { now: NOW, over: false, reSignable: true, ownsNonce: true })
    expect(transaction).toMatchObject({ status: 'failed', cost: 0n })
  })
})

describe('an expired transaction', () => {
  const item = itemOf([{ outcome: 'expired' }, { outcome: 'broadcast' }], { status: 'submitted' })
  const [, second] = item.attempts

  test('stays expired when a later version is included', () => {
    if (!second) throw new Error('no second attempt')
    const receipt = { hash: second.signed.hash, blockNumber: 7n, blockHash: '7', success: true, final: false }
    const { outcomes } = included(item, { attempt: second, receipt, reason: undefined })
    expect(outcomes.map(({ number, outcome }) => [number, outcome])).toEqual([[2, 'mined']])
  })

  test('stays expired when the block of a later version is dropped', () => {
    const mined = itemOf([{ outcome: 'expired' }, { outcome: 'mined' }], {
      status: 'mined',
      block: { number: 7n, hash: '7' },
    })
    const { outcomes } = reorged(mined, { now: NOW, costOf: () => 1n })
    expect(outcomes.map(({ number, outcome }) => [number, outcome])).toEqual([[2, 'broadcast']])
  })
})
