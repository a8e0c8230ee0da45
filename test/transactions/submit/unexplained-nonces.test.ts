import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { raiseKnownNonce } from '../../../src/relayers/store.ts'
import { findExplainedNonces, setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { findUnexplained } from '../../../src/transactions/submit/number-and-sign.ts'
import { type Fixture, insert, newTransaction, openFixture, reload, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const addAccount = (policies = {}) => {
  const stub = createStubChain()
  return fixture.addAccount({ chain: chainOf(stub), policies }).then((owner) => ({ owner, stub }))
}
const unexplained = ({ relayer }: TestAccount, chainNonce: bigint) =>
  findUnexplained({ db: fixture.context.db }, relayer, {
    sourceAccounts: [{ address: relayer.address, chainNonce }],
  })

describe('nonces that the chain has used', () => {
  test('are explained for an account that is seen for the first time, and not beyond', async () => {
    const { owner } = await addAccount()
    const { address } = owner.relayer
    expect(await unexplained(owner, 40n)).toEqual([])
    expect(await unexplained(owner, 39n)).toEqual([])
    expect(await unexplained(owner, 41n)).toEqual([{ address, chainNonce: 41n, explained: 40n }])
  })

  test('are explained by the counter, by stored transactions, and by what an operator accepted', async () => {
    const { owner } = await addAccount()
    const { id: relayerId, address } = owner.relayer
    await unexplained(owner, 0n)
    await fixture.context.db
      .transaction()
      .execute((tx) => setNextNonce(tx, { relayerId, address, nonce: 3n }))
    expect(await unexplained(owner, 3n)).toEqual([])
    await insert(fixture.context, newTransaction(owner, { nonce: 6n, sourceAccount: address }))
    expect(await unexplained(owner, 7n)).toEqual([])
    expect(await unexplained(owner, 9n)).toEqual([{ address, chainNonce: 9n, explained: 7n }])
    await raiseKnownNonce(fixture.context.db, { relayerId, address, nonce: 9n })
    expect(await unexplained(owner, 9n)).toEqual([])
  })

  test('stay explained when a counter is given up', async () => {
    const { owner } = await addAccount()
    const { id: relayerId, address } = owner.relayer
    await fixture.context.db.transaction().execute(async (tx) => {
      await setNextNonce(tx, { relayerId, address, nonce: 5n })
      await setNextNonce(tx, { relayerId, address, nonce: null })
    })
    const explained = await findExplainedNonces(fixture.context.db, owner.relayer, [address])
    expect(explained.get(address)).toBe(5n)
  })

  test('of an account that other programs use need no explanation', async () => {
    const { owner } = await addAccount({ sharedAccount: true })
    await unexplained(owner, 1n)
    expect(await unexplained(owner, 99n)).toEqual([])
  })

  test('of content that only its caller sends are explained nearby, and not far ahead', async () => {
    const { owner } = await addAccount()
    const { id: relayerId, address } = owner.relayer
    await unexplained(owner, 10n)
    await raiseKnownNonce(fixture.context.db, { relayerId, address, nonce: 2n ** 62n, within: 1_000n })
    expect(await unexplained(owner, 11n)).toHaveLength(1)
    await raiseKnownNonce(fixture.context.db, { relayerId, address, nonce: 11n, within: 1_000n })
    expect(await unexplained(owner, 11n)).toEqual([])
  })
})

test('nothing is signed while the chain is ahead of the records, and the health of the relayer is checked', async () => {
  const { owner, stub } = await addAccount()
  const checked: string[] = []
  const context = { ...fixture.context, checkHealth: async ({ id }: { id: string }) => checked.push(id) }
  const [first] = await insert(context, newTransaction(owner, { nextRunAt: new Date(0) }))
  await workAccount(context, owner.relayer.id)
  expect(first && (await reload(context, first)).transaction).toMatchObject({
    nonce: 0n,
    status: 'submitted',
  })
  expect(checked).toEqual([])
  stub.nonce = { kind: 'ok', value: 2n }
  const [second] = await insert(context, newTransaction(owner, { nextRunAt: new Date(0) }))
  const before = stub.broadcasted.length
  await workAccount(context, owner.relayer.id)
  expect(second && (await reload(context, second)).transaction).toMatchObject({
    status: 'pending',
    version: 1,
  })
  expect(stub.broadcasted).toHaveLength(before)
  expect(checked).toEqual([owner.relayer.id])
})
