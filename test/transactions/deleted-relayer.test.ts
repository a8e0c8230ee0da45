import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeRelayer } from '../../src/relayers/store.ts'
import { createAcceptor } from '../../src/transactions/accept.ts'
import { runErrand } from '../../src/transactions/errand.ts'
import { fillGaps } from '../../src/transactions/fill-gaps.ts'
import { listTransactions } from '../../src/transactions/store.ts'
import { requestOf } from '../chains/evm/build.ts'
import { leaseOf, newTransaction, openRoom, type Room, type TestAccount } from './room.ts'
import { chainOf, createWorld } from './world.ts'

let room: Room

beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())

const remove = ({ relayer }: TestAccount) =>
  room.database.db.transaction().execute((tx) => removeRelayer(tx, relayer.id))
const count = async ({ relayer: { id: relayerId } }: TestAccount) =>
  (await listTransactions(room.context.db, { relayerId, offset: 0, limit: 10 })).total

// Each of them read the relayer before it was deleted.
const STORING: [string, (account: TestAccount) => Promise<unknown>][] = [
  [
    'a request',
    async ({ relayer }) => {
      const accepting = createAcceptor(room.context)(relayer, requestOf())
      await expect(accepting).rejects.toMatchObject({ code: 'relayer_not_found' })
    },
  ],
  [
    'an errand of the service',
    async (account) =>
      runErrand(
        room.context,
        { ...account, lease: await leaseOf(room.context, account) },
        { request: requestOf(), detail: 'Others wait for it.' },
      ),
  ],
  [
    'a filler',
    async (account) => {
      const head = newTransaction(account, { status: 'submitted', nonce: 3n })
      await fillGaps(room.context, { unmined: [head], nonces: new Map([[account.relayer.address, 1n]]) })
    },
  ],
]

test.each(STORING)('%s is not stored for a relayer that was deleted meanwhile', async (_what, store) => {
  const account = await room.addAccount({ chain: chainOf(createWorld()) })
  await remove(account)
  await store(account)
  expect(await count(account)).toBe(0)
})
