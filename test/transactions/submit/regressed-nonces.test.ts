import { afterAll, beforeAll, expect, test } from 'vitest'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** A relayer whose transaction with nonce 7 is confirmed. */
async function setUp() {
  const stub = createStubChain()
  stub.nonce = { kind: 'ok', value: 8n }
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const sourceAccount = owner.relayer.address
  await insert(fixture.context, newTransaction(owner, { status: 'confirmed', nonce: 7n, sourceAccount }))
  const send = async (value: bigint) => {
    const transaction = newTransaction(owner, { request: requestOf({ value }), nextRunAt: new Date(0) })
    await insert(fixture.context, transaction)
    return transaction
  }
  const step = async () => {
    fixture.clock.advance(60_000)
    await workAccount(fixture.context, owner.relayer.id)
  }
  const nonceOf = async (transaction: Awaited<ReturnType<typeof send>>) =>
    (await reload(fixture.context, transaction)).transaction.nonce
  return { stub, send, step, nonceOf }
}

test('a chain that has a confirmed nonce next gets no transaction, from the first step on', async () => {
  const { stub, send, step, nonceOf } = await setUp()
  stub.nonce = { kind: 'ok', value: 7n }
  const waiting = await send(1n)
  await step()
  expect(await nonceOf(waiting)).toBeUndefined()
  expect(stub.broadcasted).toEqual([])
  // An endpoint that lagged has caught up.
  stub.nonce = { kind: 'ok', value: 8n }
  await step()
  expect(await nonceOf(waiting)).toBe(8n)
})

test('a nonce that falls while the service runs is noticed', async () => {
  const { stub, send, step, nonceOf } = await setUp()
  const first = await send(1n)
  await step()
  expect(await nonceOf(first)).toBe(8n)
  stub.nonce = { kind: 'ok', value: 0n }
  const second = await send(2n)
  await step()
  expect(await nonceOf(second)).toBeUndefined()
  expect(fixture.logLines.at(-1)?.msg).toContain('next nonce on the chain belongs to a confirmed transaction')
})
