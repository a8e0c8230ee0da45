import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainOf as auditChainOf } from '../../../src/audit/entry.ts'
import { verifyLog } from '../../../src/audit/verify.ts'
import { createAcceptor } from '../../../src/transactions/accept/accept.ts'
import { admitCandidates, type Candidate } from '../../../src/transactions/accept/admit.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/actor.ts'
import { eventsOf, type Fixture, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const accounts = (count: number) =>
  Promise.all(Array.from({ length: count }, () => fixture.addAccount({ chain: chainOf(createStubChain()) })))

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
  await db.updateTable('relayers').set({ removed_at: new Date() }).where('id', '=', gone.relayer.id).execute()
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
  expect(decisions).toMatchObject([ADMITTED, ADMITTED, { kind: 'refused', error: { code: 'rule_violated' } }])
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
  const accept = createAcceptor({ ...fixture.context, hasOneSession })
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
