import { afterAll, beforeAll, expect, test } from 'vitest'
import { networkOf } from '../../../src/relayers/relayer.ts'
import { spend } from '../../../src/spending/ledger.ts'
import { subjectOfRelayer } from '../../../src/spending/rules.ts'
import { closeHoldings, readSpent } from '../../../src/spending/spending-store.ts'
import { purchaseOf } from '../../../src/transactions/budgets/charge.ts'
import { type Signable, signAndStore } from '../../../src/transactions/submit/sign.ts'
import { draftOf, legacy, requestOf } from '../../chains/evm/build.ts'
import { spentOf } from '../../spending/build.ts'
import { ACTOR } from '../../support/samples.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** More than the fees of anything here. */
const VALUE = 10n ** 9n
const GAS = 21_000n

/** Signs content for a transaction that was charged with fees of 5 wei. */
async function signedAs(signable: Pick<Signable, 'kind' | 'draft'>, { isClosed = false } = {}) {
  const { db } = fixture.context
  const owner = await fixture.addAccount({
    chain: chainOf(createStubChain()),
    policies: { rules: { limits: [{ per: 'day', asset: 'native', fees: 10n ** 18n }] } },
  })
  const { relayer, runtime } = owner
  const request = requestOf({ value: VALUE })
  const [transaction] = await insert(
    fixture.context,
    newTransaction(owner, { request, nonce: 0n, cost: VALUE + 5n, isBudgeted: true }),
  )
  if (transaction === undefined) throw new Error('nothing was stored')
  const purchase = purchaseOf(runtime, { relayer, actor: ACTOR }, transaction)
  if (purchase === undefined) throw new Error('the relayer has a limit')
  const network = networkOf(relayer)
  const now = new Date(fixture.clock.now())
  await db.transaction().execute(async (tx) => {
    await spend(tx, purchase, now)
    if (isClosed) await closeHoldings(tx, [transaction.id])
  })
  await signAndStore(fixture.context, { runtime, signables: [{ transaction, attempts: [], ...signable }] })
  const counter = { subject: subjectOfRelayer(relayer.id), network, asset: 'native' }
  return (await readSpent(db, [{ counter, period: 'day' }], now))(counter, 'day')
}

test.each([
  ['content counts what it costs besides its value', 'send', { value: VALUE }],
  ['a no-op counts what it costs, and the value until the chain decides', 'cancel', { value: 0n }],
] as const)('%s', async (_, kind, content) => {
  const draft = draftOf(legacy(100n), content)
  expect(await signedAs({ kind, draft })).toEqual(spentOf(VALUE, GAS * 100n, 1))
  // The version before it may be executed as well, so it keeps its own charge.
  expect(await signedAs({ kind, draft }, { isClosed: true })).toEqual(spentOf(VALUE, 5, 1))
})
