import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Refusal } from '../../../src/chains/answer.ts'
import type { Attempt } from '../../../src/chains/attempt.ts'
import { PURPOSES, type Purpose, type Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import {
  isWait,
  OVERDUE,
  storeFailures,
  type Unprepared,
} from '../../../src/transactions/submit/failed-preparation.ts'
import { attemptOf, eip1559, requestOf, TO } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, leaseOf, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('content that cannot be prepared', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const refusedWith = (refusal: Refusal): Unprepared => ({ kind: 'refused', refusal })
  const REVERTED = refusedWith({ code: 'execution_reverted', detail: 'It would revert.' })
  const UNCONFIRMED = refusedWith({
    code: 'execution_reverted',
    detail: 'It would revert.',
    unanswered: true,
  })
  const POOR = refusedWith({ code: 'insufficient_balance', detail: 'It has 1 wei.' })
  const ABSENT = refusedWith({ code: 'account_not_found', detail: 'It is new.' })
  const SILENT: Unprepared = { kind: 'unknown', detail: 'time-out' }
  const SETUP: Unprepared = { kind: 'setup', request: requestOf(), detail: 'Opens 1 channel account.' }

  const NOOPS: readonly Purpose[] = ['cancel', 'expire', 'abandon', 'gap_filler']

  describe('content that cannot be prepared', () => {
    test.each<[string, Unprepared, Purpose, boolean]>([
      ['no endpoint answers', SILENT, 'request', true],
      ['a setup transaction goes first', SETUP, 'request', true],
      ['the account has no money', POOR, 'request', true],
      ['the account is not there', ABSENT, 'request', true],
      ['another endpoint did not confirm the refusal', UNCONFIRMED, 'request', true],
      ...PURPOSES.map((purpose): [string, Unprepared, Purpose, boolean] => [
        `the content of ${purpose} is refused`,
        REVERTED,
        purpose,
        NOOPS.includes(purpose),
      ]),
    ])('waits or ends where %s', (_name, answer, purpose, want) => {
      expect(isWait({ transaction: itemOf([{}], { purpose }).transaction, answer })).toBe(want)
    })
  })

  let hashes = 0

  interface Situation {
    readonly change?: Partial<Transaction>
    /** The outcomes of earlier attempts. */
    readonly outcomes?: readonly Attempt['outcome'][]
  }

  /** Settles a pending transaction whose preparation got this answer. */
  async function settle(answer: Unprepared, { change = {}, outcomes = [] }: Situation = {}) {
    const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    const [stored] = await insert(fixture.context, newTransaction(owner, { cost: 9n, ...change }))
    if (!stored) throw new Error('nothing was stored')
    if (outcomes.length > 0)
      await fixture.database.db.transaction().execute((tx) =>
        insertAttempts(
          tx,
          outcomes.map((outcome, index) => {
            hashes += 1
            const attempt = attemptOf(eip1559(10n, 1n), { number: index + 1, outcome })
            const signed = { ...attempt.signed, hash: `0xunprepared${hashes}` }
            return { transactionId: stored.id, attempt: { ...attempt, signed } }
          }),
        ),
      )
    const lease = await leaseOf(fixture.context, owner)
    const leased = { relayer: owner.relayer, runtime: owner.runtime, lease }
    const finished: Transaction[] = []
    const observer = {
      created() {},
      submitted() {},
      finished: (some: readonly Transaction[]) => void finished.push(...some),
      paid() {},
    }
    await storeFailures({ ...fixture.context, observer }, leased, [{ transaction: stored, answer }])
    const { transaction } = await reload(fixture.context, stored)
    return { stored, transaction, finished }
  }

  const inMs = (ms: number) => new Date(fixture.clock.now() + ms)

  describe('a transaction that waits', () => {
    test.each<[string, Unprepared, string]>([
      ['an endpoint', SILENT, 'Waiting: time-out.'],
      ['its setup', SETUP, 'Waiting: Opens 1 channel account.'],
      ['money', POOR, 'Waiting for funds: It has 1 wei.'],
      ['the account', ABSENT, 'Waiting for funds: It is new.'],
      [
        'another opinion',
        UNCONFIRMED,
        'Waiting for another endpoint, or for later blocks, to confirm it: It would revert.',
      ],
    ])('for %s says so, and is tried again', async (_name, answer, statusReason) => {
      const { stored, transaction, finished } = await settle(answer)
      expect(transaction).toEqual({
        ...stored,
        version: 2,
        statusReason,
        nextRunAt: inMs(2_000),
      })
      expect(finished).toEqual([])
    })

    test('as a no-op says what blocks it', async () => {
      const { transaction } = await settle(REVERTED, { change: { purpose: 'cancel', nonce: 3n } })
      expect(transaction).toMatchObject({
        status: 'pending',
        purpose: 'cancel',
        nonce: 3n,
        statusReason: 'Waiting: It would revert.',
        nextRunAt: inMs(2_000),
      })
    })
  })

  describe('a transaction whose content is refused', () => {
    test.each<[string, Refusal, Transaction['status']]>([
      ['is failed', { code: 'execution_reverted', detail: 'It would revert.' }, 'failed'],
      ['is expired after valid_until', OVERDUE, 'expired'],
      ['is failed for another refusal with the same words', { ...OVERDUE }, 'failed'],
    ])('%s when it has no nonce', async (_name, refusal, status) => {
      const { transaction, finished } = await settle(refusedWith(refusal))
      expect(transaction).toMatchObject({ status, statusReason: refusal.detail, cost: 0n })
      expect(finished.map(({ id }) => id)).toEqual([transaction.id])
    })

    test('says that valid_until passed before it was signed', () => {
      expect(OVERDUE).toEqual({
        code: 'invalid_request',
        detail: 'valid_until passed before it was signed.',
      })
    })

    test.each<[Purpose, Refusal, string]>([
      [
        'abandon',
        { code: 'execution_reverted', detail: 'It would revert.' },
        'It would revert; a no-op will use its nonce.',
      ],
      ['expire', OVERDUE, 'valid_until passed; a no-op will use its nonce.'],
    ])('becomes a no-op (%s) when it has a nonce of the service', async (purpose, refusal, statusReason) => {
      const { transaction, finished } = await settle(refusedWith(refusal), { change: { nonce: 3n } })
      expect(transaction).toMatchObject({
        status: 'pending',
        purpose,
        statusReason,
        nonce: 3n,
        nextRunAt: inMs(0),
        cost: 9n,
      })
      expect(finished).toEqual([])
    })

    test.each<[string, readonly Attempt['outcome'][]]>([
      ['before anything was signed', []],
      ['when the bytes have expired', ['expired', 'superseded']],
    ])('with the nonce of a third party ends %s', async (_name, outcomes) => {
      const change = { sourceAccount: TO, nonce: 3n }
      const { transaction } = await settle(REVERTED, { change, outcomes })
      expect(transaction).toMatchObject({ status: 'failed', statusReason: 'It would revert.', cost: 0n })
      expect([transaction.nonce, transaction.sourceAccount]).toEqual([undefined, undefined])
    })

    test.each<[string, Refusal, Purpose]>([
      ['abandon', { code: 'execution_reverted', detail: 'It would revert.' }, 'abandon'],
      ['expire', OVERDUE, 'expire'],
    ])(
      'with the nonce of a third party, whose bytes may be somewhere, waits for the chain (%s)',
      async (_name, refusal, purpose) => {
        const { transaction } = await settle(refusedWith(refusal), {
          change: { sourceAccount: TO, nonce: 3n },
          outcomes: ['refused', 'broadcast', 'expired'],
        })
        expect(transaction).toMatchObject({
          status: 'sent',
          purpose,
          statusReason: refusal.detail,
          currentAttempt: 2,
          sourceAccount: TO,
          nonce: 3n,
          nextRunAt: inMs(240_000),
        })
      },
    )
  })
})

describe('a failed preparation', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  test('a no-op that cannot be prepared is tried again later, not immediately', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    let asked = 0
    stub.override = {
      prepare: async () => {
        asked += 1
        return { kind: 'refused', refusal: { code: 'fee_above_cap', detail: 'The cap is too low.' } }
      },
    }
    const due = new Date(fixture.clock.now())
    const [gapFiller] = await insert(
      fixture.context,
      newTransaction(owner, { purpose: 'gap_filler', nonce: 0n, nextRunAt: due }),
    )
    if (!gapFiller) throw new Error('nothing was stored')
    await workAccount(fixture.context, owner.relayer.id)
    await workAccount(fixture.context, owner.relayer.id)
    expect(asked).toBe(1)
    expect((await reload(fixture.context, gapFiller)).transaction).toMatchObject({
      status: 'pending',
      purpose: 'gap_filler',
      nonce: 0n,
      statusReason: 'Waiting: The cap is too low.',
    })
    fixture.clock.advance(2_000)
    await workAccount(fixture.context, owner.relayer.id)
    expect(asked).toBe(2)
  })

  test('no transaction is prepared behind one that waits', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const { prepare } = chainOf(createStubChain())
    let asked = 0
    let answers = false
    stub.override = {
      prepare: async (...question) => {
        asked += 1
        return answers ? prepare(...question) : { kind: 'unknown', detail: 'time-out' }
      },
    }
    const due = new Date(fixture.clock.now())
    const accept = () => newTransaction(owner, { createdAt: due, nextRunAt: due })
    const stored = await insert(fixture.context, accept(), accept(), accept())
    const step = async () => {
      asked = 0
      await workAccount(fixture.context, owner.relayer.id)
      fixture.clock.advance(2_000)
      return asked
    }
    expect(await step()).toBe(3)
    expect(await step()).toBe(1)
    answers = true
    expect(await step()).toBe(3)
    for (const transaction of stored)
      expect((await reload(fixture.context, transaction)).transaction.status).toBe('submitted')
  })

  test('a refusal that another endpoint has not confirmed ends nothing; the confirmed one does', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const refusal = { code: 'execution_reverted', detail: 'It would revert.' } as const
    let unanswered = true
    stub.override = {
      prepare: async () => ({
        kind: 'refused',
        refusal: unanswered ? { ...refusal, unanswered } : refusal,
      }),
    }
    const due = new Date(fixture.clock.now())
    const [stored] = await insert(fixture.context, newTransaction(owner, { createdAt: due, nextRunAt: due }))
    if (!stored) throw new Error('nothing was stored')
    await workAccount(fixture.context, owner.relayer.id)
    expect((await reload(fixture.context, stored)).transaction).toMatchObject({
      status: 'pending',
      purpose: 'request',
      statusReason: 'Waiting for another endpoint, or for later blocks, to confirm it: It would revert.',
      nextRunAt: new Date(due.getTime() + 2_000),
    })
    unanswered = false
    fixture.clock.advance(2_000)
    await workAccount(fixture.context, owner.relayer.id)
    expect((await reload(fixture.context, stored)).transaction).toMatchObject({
      status: 'failed',
      statusReason: 'It would revert.',
    })
  })
})
