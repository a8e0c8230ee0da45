import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TransactionStatus } from '../../../src/transactions/model/transaction.ts'
import { phaseOf } from '../../../src/transactions/store/codec.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const STATUSES: readonly TransactionStatus[] = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
]

test('the database derives the same phase from each status', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  await insert(fixture.context, ...STATUSES.map((status) => newTransaction(owner, { status })))
  const rows = await fixture.database.db
    .selectFrom('transactions')
    .select(['status', 'phase'])
    .where('relayer_id', '=', owner.relayer.id)
    .orderBy('position')
    .execute()
  expect(rows).toEqual(STATUSES.map((status) => ({ status, phase: phaseOf(status) })))
})
