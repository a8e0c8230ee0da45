import { afterAll, beforeAll, expect, test } from 'vitest'
import { listResets, rememberGenesis } from '../../../src/networks/chain-identity-store.ts'
import { saveRelayer } from '../../../src/relayers/store.ts'
import { findByNonce } from '../../../src/transactions/store/lookups-store.ts'
import { lockAccount, setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { resetNetwork } from '../../../src/transactions/store/reset-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { ACTOR } from '../../support/samples.ts'
import { eventsOf, type Fixture, insert, leaseOf, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, SILENT_NETWORK } from '../stub-chain.ts'

const NOW = new Date('2026-01-02T03:04:05Z')
const ELSEWHERE = { ...SILENT_NETWORK, name: 'elsewhere' }

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const reset = () =>
  resetNetwork(fixture.database.db, SILENT_NETWORK, { now: NOW, includesOwnEndpoints: true, author: ACTOR })

test('what was open ends, in every status, and nothing else changes', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const other = await fixture.addAccount({ chain: chainOf(createStubChain()), network: ELSEWHERE })
  const sourceAccount = owner.relayer.address
  const block = { number: 9n, hash: '0x9' }
  const numbered = (nonce: bigint) => ({ nonce, sourceAccount })
  const open = await insert(
    fixture.context,
    newTransaction(owner),
    newTransaction(owner, { status: 'sent', ...numbered(5n) }),
    newTransaction(owner, { status: 'submitted', ...numbered(6n), undecidedSince: NOW, stuckSince: NOW }),
    newTransaction(owner, { status: 'mined', ...numbered(7n), block }),
  )
  const [confirmed, elsewhere] = await insert(
    fixture.context,
    newTransaction(owner, { status: 'confirmed', ...numbered(4n), block }),
    newTransaction(other, { network: ELSEWHERE.name }),
  )
  expect(await reset()).toMatchObject({ ended: 4, relayerIds: expect.arrayContaining([owner.relayer.id]) })
  for (const one of open) {
    const { transaction } = await reload(fixture.context, one)
    expect(transaction).toMatchObject({ status: 'failed', cost: 0n, nextRunAt: NOW })
    expect(transaction.statusReason).toContain(`${SILENT_NETWORK.name} was declared reset`)
    expect([transaction.block, transaction.undecidedSince, transaction.stuckSince]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect((await eventsOf(fixture.context, one)).at(-1)).toBe('failed')
  }
  if (!confirmed || !elsewhere) throw new Error('nothing was inserted')
  expect((await reload(fixture.context, confirmed)).transaction.status).toBe('confirmed')
  expect((await reload(fixture.context, elsewhere)).transaction.status).toBe('pending')
})

test('a relayer with several accounts is named once', async () => {
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const further = { ...relayer, id: `${relayer.id}/0x1` }
  await fixture.database.db.transaction().execute((tx) => saveRelayer(tx, further))
  const { relayerIds } = await reset()
  expect(relayerIds.filter((id) => id.startsWith(relayer.id))).toEqual([relayer.id])
})

test('nonces and hashes of the old chain occur again', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const sendOne = async () => {
    const [transaction] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
    if (transaction === undefined) throw new Error('nothing was inserted')
    fixture.clock.advance(60_000)
    // The first step after the reset finds that its lease was taken.
    for (let step = 0; step < 2; step += 1) await workAccount(fixture.context, owner.relayer.id)
    return reload(fixture.context, transaction)
  }
  const before = await sendOne()
  await reset()
  const after = await sendOne()
  expect([before, after].map(({ transaction }) => transaction.nonce)).toEqual([0n, 0n])
  expect(after.attempts[0]?.signed.hash).toBe(before.attempts[0]?.signed.hash)
  const byNonce = await findByNonce(fixture.database.db, owner.relayer, 0n)
  expect(byNonce?.transaction.id).toBe(after.transaction.id)
})

test('counters are read from the new chain, and a step that is under way loses its lease', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { id: relayerId, address } = owner.relayer
  const lease = await leaseOf(fixture.context, owner)
  const { db } = fixture.database
  await db.transaction().execute((tx) => setNextNonce(tx, { relayerId, address, nonce: 9n }))
  await reset()
  expect(await db.transaction().execute((tx) => lockAccount(tx, relayerId))).toEqual(new Map())
  const row = await db.selectFrom('leases').select('fence').where('name', '=', lease.name).executeTakeFirst()
  expect(row?.fence).toBe(lease.fence + 1n)
})

test('the first block is remembered once, and again after a reset', async () => {
  const { db } = fixture.database
  const remember = (genesis: string) => rememberGenesis(db, ELSEWHERE, genesis)
  expect([await remember('0xa'), await remember('0xb')]).toEqual(['0xa', '0xa'])
  await resetNetwork(db, ELSEWHERE, { now: NOW, includesOwnEndpoints: true, author: ACTOR })
  expect([await remember('0xb'), await remember('0xa')]).toEqual(['0xb', '0xb'])
  expect(await listResets(db)).toContainEqual({ type: 'evm', name: 'elsewhere', resets: 1 })
})
