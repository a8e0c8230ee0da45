import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { admitCandidates, type Candidate } from '../../../src/transactions/accept/admit.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { requestOf, TO } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/samples.ts'
import {
  acceptorOf,
  eventsOf,
  type Fixture,
  insert,
  newTransaction,
  openFixture,
  reload,
  type TestAccount,
} from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('admission', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })

  const candidateOf = (
    owner: TestAccount,
    change: Partial<Transaction> = {},
    rest: Partial<Candidate> = {},
  ) => ({
    relayer: owner.relayer,
    transaction: newTransaction(owner, change),
    balance: undefined,
    actor: ACTOR,
    idempotencyKey: undefined,
    ...rest,
  })

  async function isStored({ transaction }: Candidate): Promise<boolean> {
    return (await eventsOf(fixture.context, transaction)).length > 0
  }

  describe('a batch of requests', () => {
    test('spends the balance in its order, minus the sum that is reserved already', async () => {
      const owner = await account()
      await insert(fixture.context, newTransaction(owner, { cost: 20n }))
      // One wei stays on the account.
      const of = (cost: bigint) => candidateOf(owner, { cost }, { balance: 101n })
      const candidates = [of(50n), of(31n), of(30n), of(1n), candidateOf(owner, { cost: 9_000n })]
      const decisions = await admitCandidates(fixture.context, candidates)
      expect(decisions).toMatchObject([
        { kind: 'admitted' },
        {
          kind: 'refused',
          error: {
            code: 'insufficient_balance',
            detail: expect.stringContaining('101 wei; 70 are reserved'),
          },
        },
        { kind: 'admitted' },
        { kind: 'refused', error: { code: 'insufficient_balance' } },
        { kind: 'admitted' },
      ])
      expect(await Promise.all(candidates.map(isStored))).toEqual([true, false, true, false, true])
    })

    test('of no requests needs nothing', async () => {
      expect(await admitCandidates({} as never, [])).toEqual([])
    })

    test('uses each idempotency key once, whatever else is wrong with the second', async () => {
      const owner = await account()
      const of = (fingerprint: string, balance?: bigint) =>
        candidateOf(
          owner,
          { cost: 5n },
          { balance, idempotencyKey: { key: 'one', maker: 'shop', fingerprint } },
        )
      const [first, same, other] = [of('a'), of('a', 0n), of('b')]
      const detail = `Idempotency-Key: this key was used for a request with another body, transaction ${first.transaction.id}.`
      const repeated = { kind: 'repeated', transactionId: first.transaction.id }
      const refused = { kind: 'refused', error: { code: 'idempotency_key_reused', detail } }
      const decisions = await admitCandidates(fixture.context, [first, same, other])
      expect(decisions).toMatchObject([{ kind: 'admitted' }, repeated, refused])
      expect(await admitCandidates(fixture.context, [of('a'), of('b')])).toMatchObject([repeated, refused])
      expect(await Promise.all([first, same, other].map(isStored))).toEqual([true, false, false])
      const again = (fingerprint: string) =>
        acceptorOf(fixture.context)(owner.relayer, requestOf(), ACTOR, {
          idempotencyKey: { key: 'one', maker: 'shop', fingerprint },
        })
      expect((await again('a')).transaction.id).toBe(first.transaction.id)
      await expect(again('b')).rejects.toMatchObject({ code: 'idempotency_key_reused', detail })
    })

    test.each([
      ['was paused', { paused: true }, 'relayer_paused'],
      ['was disabled', { system_disabled: true }, 'relayer_disabled'],
    ])('of a relayer that %s meanwhile is refused', async (_name, change, code) => {
      const owner = await account()
      await fixture.database.db
        .updateTable('relayers')
        .set(change)
        .where('id', '=', owner.relayer.id)
        .execute()
      const candidate = candidateOf(owner)
      const decisions = await admitCandidates(fixture.context, [candidate])
      expect(decisions).toMatchObject([{ kind: 'refused', error: { code } }])
      expect(await isStored(candidate)).toBe(false)
    })

    test('of a relayer that does not exist is refused as a whole', async () => {
      const owner = await account()
      const relayer = { ...owner.relayer, id: 'nobody' }
      const candidates = [candidateOf(owner, {}, { relayer }), candidateOf(owner, {}, { relayer })]
      const refused = {
        kind: 'refused',
        error: { code: 'relayer_not_found', detail: 'There is no relayer nobody.' },
      }
      expect(await admitCandidates(fixture.context, candidates)).toMatchObject([refused, refused])
    })
  })

  describe('a nonce that the content brings', () => {
    const external = (owner: TestAccount, nonce: bigint, sourceAccount = TO) =>
      candidateOf(owner, { sourceAccount, nonce })

    test('must belong to a third party', async () => {
      const owner = await account()
      const [decision] = await admitCandidates(fixture.context, [external(owner, 5n, owner.relayer.address)])
      expect(decision).toMatchObject({
        kind: 'refused',
        error: {
          code: 'not_supported',
          detail: `transaction_xdr: the sequence numbers of ${owner.relayer.address} are assigned by the service. Send the operations, or the transaction unsigned.`,
        },
      })
    })

    test('is used once, in one batch and in another', async () => {
      const owner = await account()
      const refused = {
        kind: 'refused',
        error: {
          code: 'already_accepted',
          detail: `transaction_xdr: sequence number 5 of ${TO} was accepted before; list the transactions to find it.`,
        },
      }
      const batch = [
        external(owner, 5n),
        external(owner, 5n),
        external(owner, 6n),
        external(owner, 5n, '0xother'),
      ]
      expect(await admitCandidates(fixture.context, batch)).toMatchObject([
        { kind: 'admitted' },
        refused,
        { kind: 'admitted' },
        { kind: 'admitted' },
      ])
      expect(await admitCandidates(fixture.context, [external(owner, 5n)])).toMatchObject([refused])
      expect(await admitCandidates(fixture.context, [external(await account(), 5n)])).toMatchObject([
        { kind: 'admitted' },
      ])
    })
  })

  describe('an accepted request', () => {
    async function setUp() {
      const stub = createStubChain()
      const owner = await fixture.addAccount({ chain: chainOf(stub) })
      const created: string[] = []
      const observer = {
        created: (some: readonly Transaction[]) => void created.push(...some.map(({ id }) => id)),
        submitted() {},
        finished() {},
        paid() {},
      }
      const accept = acceptorOf({ ...fixture.context, observer })
      return { stub, owner, created, accept }
    }

    test('is stored with its cost, and reported', async () => {
      const { owner, created, accept } = await setUp()
      const { transaction, attempts, logs } = await accept(owner.relayer, requestOf({ value: 7n }), ACTOR)
      const now = new Date(fixture.clock.now())
      expect(transaction).toMatchObject({
        relayerId: owner.relayer.id,
        network: owner.relayer.network,
        from: owner.relayer.address,
        status: 'pending',
        purpose: 'request',
        createdAt: now,
        nextRunAt: now,
        version: 1,
        // 21,000 gas at 100 wei, and the value.
        cost: 2_100_007n,
      })
      expect([transaction.nonce, transaction.sourceAccount, transaction.estimatedGas]).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      expect([attempts, logs]).toEqual([[], []])
      expect((await reload(fixture.context, transaction)).transaction).toEqual(transaction)
      expect(created).toEqual([transaction.id])
    })

    test('keeps what its preparation found, and the nonce that a third party signed', async () => {
      const { stub, owner, accept } = await setUp()
      // A capability that this kind of chain does not have.
      const externalSigning = { externalSigning: { nonceOf: () => ({ address: TO, nonce: 77n }) } }
      const { prepare } = chainOf(createStubChain())
      stub.override = {
        prepare: async (...question) => {
          const answer = await prepare(...question)
          if (answer.kind !== 'ok') return answer
          return { kind: 'ok', value: { ...answer.value, knownGas: 4_321n, logs: ['The tip is low.'] } }
        },
        ...externalSigning,
      }
      const { transaction, logs } = await accept(owner.relayer, requestOf(), ACTOR)
      expect(transaction).toMatchObject({ estimatedGas: 4_321n, sourceAccount: TO, nonce: 77n })
      expect(logs).toEqual(['The tip is low.'])
    })

    test('that needs a setup says so, and reserves what it moves', async () => {
      const { stub, owner, accept } = await setUp()
      stub.override = {
        prepare: async () => ({ kind: 'setup', request: requestOf(), detail: 'It needs an account.' }),
      }
      const { transaction, logs } = await accept(owner.relayer, requestOf({ value: 7n }), ACTOR)
      expect(transaction.cost).toBe(7n)
      expect(logs).toEqual(['It needs an account. The service does this first.'])
    })

    test('is the same one when the key is repeated, and is not reported again', async () => {
      const { owner, created, accept } = await setUp()
      const key = { key: 'again', maker: 'shop', fingerprint: 'same' }
      const first = await accept(owner.relayer, requestOf(), ACTOR, { idempotencyKey: key })
      const again = await accept(owner.relayer, requestOf(), ACTOR, { idempotencyKey: key })
      expect(again.transaction).toEqual(first.transaction)
      expect(again.logs).toEqual([
        'This Idempotency-Key was used before: this is its transaction, as it is now.',
      ])
      expect(created).toEqual([first.transaction.id])
    })

    test('is the same one when two requests with one key arrive at the same time', async () => {
      const { owner, created, accept } = await setUp()
      const key = { key: 'at once', maker: 'shop', fingerprint: 'same' }
      const [one, other] = await Promise.all(
        [1, 2].map(() => accept(owner.relayer, requestOf(), ACTOR, { idempotencyKey: key })),
      )
      expect(other?.transaction.id).toBe(one?.transaction.id)
      expect(created).toEqual([one?.transaction.id])
    })

    test.each<[string, Parameters<typeof requestOf>[0], object]>([
      ['what the chain does not allow', { gasLimit: 1n }, { code: 'gas_limit_too_low' }],
      [
        'a valid_until that is now',
        { validUntil: new Date(0) },
        {
          code: 'valid_until_in_past',
          detail: 'valid_until: a time in the future is expected, not 1970-01-01T00:00:00.000Z.',
        },
      ],
      ['more than the account holds', { value: 10n ** 20n }, { code: 'insufficient_balance' }],
    ])('is not %s', async (_name, request, error) => {
      const { owner, created, accept } = await setUp()
      await expect(accept(owner.relayer, requestOf(request), ACTOR)).rejects.toMatchObject(error)
      expect(created).toEqual([])
    })

    test.each([
      [0, 'rejected'],
      [1, 'fulfilled'],
    ])('with a valid_until in %i ms is %s', async (ms, status) => {
      const { owner, accept } = await setUp()
      const validUntil = new Date(fixture.clock.now() + ms)
      const [result] = await Promise.allSettled([accept(owner.relayer, requestOf({ validUntil }), ACTOR)])
      expect(result?.status).toBe(status)
    })

    test.each([
      ['that the node refuses', { code: 'execution_reverted', detail: 'It would revert.' } as const],
    ])('is none %s', async (_name, refusal) => {
      const { stub, owner, accept, created } = await setUp()
      stub.override = { prepare: async () => ({ kind: 'refused', refusal }) }
      await expect(accept(owner.relayer, requestOf(), ACTOR)).rejects.toMatchObject(refusal)
      expect(created).toEqual([])
    })

    test('is not refused when no endpoint tells the balance (I6)', async () => {
      const { stub, owner, accept } = await setUp()
      stub.balance = { kind: 'unknown', detail: 'time-out' }
      const { transaction } = await accept(owner.relayer, requestOf({ value: 10n ** 20n }), ACTOR)
      expect(transaction.status).toBe('pending')
    })
  })
})

describe('the decision to admit', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  test('of two externally signed transactions with one sequence number in one batch, the first is admitted', async () => {
    const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    const candidate = (value: bigint): Candidate => ({
      relayer: owner.relayer,
      transaction: newTransaction(owner, { sourceAccount: '0xA1', nonce: 9n, request: requestOf({ value }) }),
      balance: undefined,
      actor: ACTOR,
      idempotencyKey: undefined,
    })
    const decisions = await admitCandidates(fixture.context, [candidate(1n), candidate(2n)])
    expect(decisions).toMatchObject([
      { kind: 'admitted' },
      { kind: 'refused', error: { code: 'already_accepted' } },
    ])
  })
})

describe('the reservations of open transactions', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const addAccount = () => fixture.addAccount({ chain: chainOf(createStubChain()) })

  function candidateOf(owner: TestAccount, cost: bigint, balance: bigint | undefined): Candidate {
    const transaction = newTransaction(owner, { cost })
    return { relayer: owner.relayer, transaction, balance, actor: ACTOR, idempotencyKey: undefined }
  }

  /** Sends one transaction of this cost, and tells the decision. */
  async function send(owner: TestAccount, cost: bigint, balance: bigint | undefined) {
    const candidate = candidateOf(owner, cost, balance)
    const [decision] = await admitCandidates(fixture.context, [candidate])
    return { kind: decision?.kind, transaction: candidate.transaction }
  }

  /** Changes a transaction as a step of the service does. */
  async function change(transaction: Transaction, to: Partial<Transaction>): Promise<Transaction> {
    const { db } = fixture.context
    const [saved] = await db.transaction().execute((tx) => saveTransactions(tx, [{ ...transaction, ...to }]))
    if (saved === undefined) throw new Error('the transaction changed meanwhile')
    return saved
  }

  test('what is written since the sum was read counts: no money is promised twice', async () => {
    const owner = await addAccount()
    expect(await send(owner, 50n, 200n)).toMatchObject({ kind: 'admitted' })
    const { kind, transaction } = await send(owner, 50n, 200n)
    expect(kind).toBe('admitted')
    // A higher fee reserves more.
    await change(transaction, { cost: 120n })
    expect(await send(owner, 50n, 200n)).toMatchObject({ kind: 'refused' })
    expect(await send(owner, 29n, 200n)).toMatchObject({ kind: 'admitted' })
  })

  test('a transaction that ended reserves nothing', async () => {
    const owner = await addAccount()
    for (let round = 0; round < 5; round += 1) {
      const { kind, transaction } = await send(owner, 60n, 100n)
      expect(kind).toBe('admitted')
      expect(await send(owner, 60n, 100n)).toMatchObject({ kind: 'refused' })
      await change(transaction, { status: 'canceled' })
    }
  })

  test('a transaction that a reorganisation brings back reserves its cost again', async () => {
    const owner = await addAccount()
    const { transaction } = await send(owner, 60n, 100n)
    const sent = await change(transaction, { status: 'sent' })
    const mined = await change(sent, { status: 'mined' })
    expect(await send(owner, 30n, 100n)).toMatchObject({ kind: 'admitted' })
    await change(mined, { status: 'submitted' })
    expect(await send(owner, 30n, 100n)).toMatchObject({ kind: 'refused' })
    expect(await send(owner, 9n, 100n)).toMatchObject({ kind: 'admitted' })
  })

  test('what becomes active by the time alone counts from then on', async () => {
    const owner = await addAccount()
    const validFrom = new Date(fixture.clock.now() + 60_000)
    const later = newTransaction(owner, { cost: 60n })
    const scheduled = { ...later, request: { ...later.request, validFrom } }
    const scheduledCandidate = { ...candidateOf(owner, 60n, 100n), transaction: scheduled }
    expect(await send(owner, 20n, 100n)).toMatchObject({ kind: 'admitted' })
    expect(await admitCandidates(fixture.context, [scheduledCandidate])).toMatchObject([{ kind: 'admitted' }])
    expect(await send(owner, 50n, 100n)).toMatchObject({ kind: 'admitted' })
    fixture.clock.advance(60_000)
    expect(await send(owner, 1n, 100n)).toMatchObject({ kind: 'refused' })
    expect(await send(owner, 1n, 132n)).toMatchObject({ kind: 'admitted' })
  })
})
