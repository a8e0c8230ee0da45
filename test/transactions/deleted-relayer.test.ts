import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeRelayer } from '../../src/relayers/store.ts'
import { listTransactions } from '../../src/transactions/store/lookups-store.ts'
import { runSetupTransaction } from '../../src/transactions/submit/failed-preparation.ts'
import { fillGaps } from '../../src/transactions/watch/fill-gaps.ts'
import { requestOf } from '../chains/evm/build.ts'
import { ACTOR } from '../support/samples.ts'
import {
  acceptorOf,
  type Fixture,
  leaseOf,
  newTransaction,
  openFixture,
  type TestAccount,
} from './fixture.ts'
import { chainOf, createStubChain } from './stub-chain.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const remove = ({ relayer }: TestAccount) =>
  fixture.database.db.transaction().execute((tx) => removeRelayer(tx, relayer.id))
const count = async ({ relayer: { id } }: TestAccount) =>
  (await listTransactions(fixture.context.db, { relayerIds: [id], offset: 0, limit: 10 })).total

// Each of them read the relayer before it was deleted.
const STORING: [string, (account: TestAccount) => Promise<unknown>][] = [
  [
    'a request',
    async ({ relayer }) => {
      const accepting = acceptorOf(fixture.context)(relayer, requestOf(), ACTOR)
      await expect(accepting).rejects.toMatchObject({ code: 'relayer_not_found' })
    },
  ],
  [
    'a setup transaction of the service',
    async (account) =>
      runSetupTransaction(
        fixture.context,
        { ...account, lease: await leaseOf(fixture.context, account) },
        { request: requestOf(), detail: 'Others wait for it.' },
      ),
  ],
  [
    'a filler',
    async (account) => {
      const head = newTransaction(account, { status: 'submitted', nonce: 3n })
      await fillGaps(fixture.context, { unmined: [head], nonces: new Map([[account.relayer.address, 1n]]) })
    },
  ],
]

test.each(STORING)('%s is not stored for a relayer that was deleted meanwhile', async (_what, store) => {
  const account = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  await remove(account)
  await store(account)
  expect(await count(account)).toBe(0)
})
