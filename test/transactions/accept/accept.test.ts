import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditLogOf as auditChainOf } from '../../../src/audit/entry.ts'
import { verifyLog } from '../../../src/audit/verify.ts'
import { admitCandidates, type Candidate } from '../../../src/transactions/accept/admit.ts'
import { checkTimes } from '../../../src/transactions/accept/checks.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/samples.ts'
import {
  acceptorOf,
  eventsOf,
  type Fixture,
  newTransaction,
  openFixture,
  type TestAccount,
} from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('acceptance', () => {
  /** The cost of each request, in the smallest unit. */
  const COST = 10n ** 18n

  /** The default of `min_balance` keeps 1 in the account. */
  const NEEDED = COST + 1n

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  test('a request that is refused because its twin was accepted meanwhile gets the transaction of its twin', async () => {
    const stub = createStubChain()
    const chain = chainOf(stub)
    const owner = await fixture.addAccount({ chain })
    const accept = acceptorOf(fixture.context)
    const idempotencyKey = { key: 'one', maker: 'shop', fingerprint: 'same' }
    const arrived = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    stub.override = {
      prepare: async () => {
        arrived.resolve()
        await release.promise
        return { kind: 'refused', refusal: { code: 'execution_reverted', detail: 'The money is spent.' } }
      },
    }
    const late = accept(owner.relayer, requestOf(), ACTOR, { idempotencyKey })
    await arrived.promise
    stub.override = {}
    const first = await accept(owner.relayer, requestOf(), ACTOR, { idempotencyKey })
    release.resolve()
    expect((await late).transaction.id).toBe(first.transaction.id)
  })

  test('what no endpoint can simulate now is accepted, and the answer says so', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.override = { prepare: async () => ({ kind: 'unknown', detail: 'no endpoint answers' }) }
    const { transaction, logs } = await acceptorOf(fixture.context)(owner.relayer, requestOf(), ACTOR)
    expect(transaction.status).toBe('pending')
    expect(logs).toEqual(['Not simulated yet: no endpoint answers. The service simulates it before signing.'])
  })

  test.each([
    ['a paused relayer', { paused: true }, {}, 'relayer_paused'],
    ['a relayer that the service disabled', { systemDisabled: true }, {}, 'relayer_disabled'],
    ['a valid_until that has passed', {}, { validUntil: new Date(0) }, 'valid_until_in_past'],
  ] as const)('%s refuses a request', async (_name, relayer, request, code) => {
    const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    const accepting = acceptorOf(fixture.context)({ ...owner.relayer, ...relayer }, requestOf(request), ACTOR)
    await expect(accepting).rejects.toMatchObject({ code })
  })

  test('a recent balance of twice the cost is enough for a request, and it takes no other one to accept it', async () => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.override = {
      recentBalance: async () => ({ kind: 'ok', value: NEEDED }),
      cost: () => COST,
      balance: async () => {
        throw new Error('no one has to ask')
      },
    }
    const { transaction } = await acceptorOf(fixture.context)(owner.relayer, requestOf(), ACTOR)
    expect(transaction).toMatchObject({ status: 'pending', cost: COST })
  })

  test.each([
    {
      name: 'refuses when it is too low as well',
      present: { kind: 'ok', value: NEEDED - 1n },
      refused: true,
    },
    { name: 'accepts when it is enough', present: { kind: 'ok', value: NEEDED }, refused: false },
    {
      name: 'accepts when no node tells it',
      present: { kind: 'unknown', detail: 'silence' },
      refused: false,
    },
  ] as const)('a recent balance that is too low asks for the present one, which $name', async (one) => {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.override = {
      recentBalance: async () => ({ kind: 'ok', value: NEEDED - 1n }),
      cost: () => COST,
      balance: async () => one.present,
    }
    const accepting = acceptorOf(fixture.context)(owner.relayer, requestOf(), ACTOR)
    if (one.refused) await expect(accepting).rejects.toMatchObject({ code: 'insufficient_balance' })
    else expect((await accepting).transaction.status).toBe('pending')
    const stored = await fixture.context.db
      .selectFrom('transactions')
      .select('id')
      .where('relayer_id', '=', owner.relayer.id)
      .execute()
    expect(stored).toHaveLength(one.refused ? 0 : 1)
  })
})

const NOW = Date.parse('2030-01-01T00:00:00.000Z')
const DAY_MS = 86_400_000
const at = (ms: number) => new Date(NOW + ms)

const UNSIGNED = { endsAt: ({ validUntil }: { validUntil?: Date }) => validUntil }
const OF_OTHERS = { ...UNSIGNED, externalSigning: { nonceOf: () => ({ address: 'other', nonce: 1n }) } }
const ONCE = { ...UNSIGNED, expiry: { hasExpired: async () => false, reSignable: () => false } }

describe('the times of a request', () => {
  test.each([
    ['no time', {}, undefined],
    ['the last moment of 30 days', { validFrom: at(30 * DAY_MS) }, undefined],
    ['a moment later', { validFrom: at(30 * DAY_MS + 1) }, 'valid_from'],
    ['an end after the beginning', { validFrom: at(1), validUntil: at(2) }, undefined],
    ['an end at the beginning', { validFrom: at(1), validUntil: at(1) }, 'valid_until'],
    ['an end that has passed', { validUntil: at(0) }, 'valid_until'],
    ['a beginning that has passed', { validFrom: at(-1) }, undefined],
  ])('%s', (_name, times, field) => {
    expect(checkTimes(UNSIGNED, requestOf(times), NOW)?.detail.split(':')[0]).toBe(field)
  })

  test.each([
    ['a moment less than nodes take', { validUntil: at(10_999) }, at(11_000)],
    ['as much as they take', { validUntil: at(11_000) }, undefined],
    ['less, counted from its beginning', { validFrom: at(5_000), validUntil: at(15_999) }, at(16_000)],
    ['as much, counted from its beginning', { validFrom: at(5_000), validUntil: at(16_000) }, undefined],
    [
      'less, counted from now, when its beginning has passed',
      { validFrom: at(-5_000), validUntil: at(9_000) },
      at(11_000),
    ],
  ])('%s', (_name, times, shortest) => {
    const chain = { ...UNSIGNED, expiry: { ...ONCE.expiry, reSignable: () => true, minLifetimeMs: 11_000 } }
    const problem = checkTimes(chain, requestOf(times), NOW)
    expect(problem?.code).toBe(shortest && 'invalid_request')
    expect(problem?.detail).toEqual(
      shortest &&
        expect.stringMatching(
          new RegExp(
            `^valid_until: at least 11 s from (now|valid_from) are expected \\(${shortest.toISOString()}\\)`,
          ),
        ),
    )
  })

  test.each([
    ['a nonce of others', OF_OTHERS],
    ['signatures of others', ONCE],
  ])('content with %s cannot wait', (_name, chain) => {
    expect(checkTimes(chain, requestOf(), NOW)).toBeUndefined()
    expect(checkTimes(chain, requestOf({ validFrom: at(1) }), NOW)?.detail).toContain('valid_from: not')
  })
})

describe('many relayers', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const accounts = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => fixture.addAccount({ chain: chainOf(createStubChain()) })),
    )

  function candidateOf(owner: TestAccount, rest: Partial<Candidate> = {}): Candidate {
    return {
      relayer: owner.relayer,
      transaction: newTransaction(owner, { cost: 50n }),
      balance: undefined,
      actor: ACTOR,
      idempotencyKey: undefined,
      ...rest,
    }
  }

  const ADMITTED = { kind: 'admitted' }

  test('requests of several relayers get their decisions in their order, each by the facts of its own relayer', async () => {
    const [rich, poor, gone] = (await accounts(3)) as [TestAccount, TestAccount, TestAccount]
    const { db } = fixture.database
    await db
      .updateTable('relayers')
      .set({ removed_at: new Date() })
      .where('id', '=', gone.relayer.id)
      .execute()
    const candidates = [
      candidateOf(poor, { balance: 60n }),
      candidateOf(gone),
      candidateOf(rich, { balance: 1_000n }),
      candidateOf(poor, { balance: 60n }),
      candidateOf(rich, { balance: 1_000n }),
    ]
    expect(await admitCandidates(fixture.context, candidates)).toMatchObject([
      { ...ADMITTED, transaction: { id: candidates[0]?.transaction.id } },
      { kind: 'refused', error: { code: 'relayer_not_found' } },
      { ...ADMITTED, transaction: { id: candidates[2]?.transaction.id } },
      { kind: 'refused', error: { code: 'insufficient_balance' } },
      { ...ADMITTED, transaction: { id: candidates[4]?.transaction.id } },
    ])
    const stored = await Promise.all(
      candidates.map(({ transaction }) => eventsOf(fixture.context, transaction)),
    )
    expect(stored.map(({ length }) => length)).toEqual([1, 0, 1, 0, 1])
    for (const { relayer } of [rich, poor]) {
      const reports = await verifyLog(db)
      expect(reports.find(({ chain }) => chain === auditChainOf(relayer.id))).toMatchObject({
        problem: undefined,
      })
    }
  })

  test('the budget of an API key counts its requests to all of them', async () => {
    const owners = await accounts(3)
    const rules = { limits: [{ per: 'day', asset: 'native', count: 2 }] } as const
    const actor = { ...ACTOR, keyId: 'limited', rules }
    const decisions = await admitCandidates(
      fixture.context,
      owners.map((owner) => candidateOf(owner, { actor })),
    )
    expect(decisions).toMatchObject([
      ADMITTED,
      ADMITTED,
      { kind: 'refused', error: { code: 'rule_violated' } },
    ])
    const [later] = await accounts(1)
    expect(
      await admitCandidates(fixture.context, [candidateOf(later as TestAccount, { actor })]),
    ).toMatchObject([{ kind: 'refused', error: { code: 'rule_violated' } }])
  })

  test.each([
    [true, 1],
    [false, 3],
  ])('requests that arrive together; a database with one session: %s', async (hasOneSession, expected) => {
    const owners = await accounts(3)
    const accept = acceptorOf({ ...fixture.context, hasOneSession })
    await Promise.all(
      owners.flatMap(({ relayer }) => [1n, 2n].map((value) => accept(relayer, requestOf({ value }), ACTOR))),
    )
    const ids = owners.map(({ relayer }) => relayer.id)
    const { rows } = await sql<{ xmin: string }>`
    select distinct xmin::text from transactions where relayer_id = any(${ids}::text[])`.execute(
      fixture.database.db,
    )
    expect(rows).toHaveLength(expected)
  })
})
