import { afterAll, beforeAll, expect, test } from 'vitest'
import { admitCandidates, type Candidate } from '../../../src/transactions/accept/admit.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/actor.ts'
import { type Fixture, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

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
