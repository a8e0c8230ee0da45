import { afterAll, beforeAll, expect, test } from 'vitest'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

test('a no-op that cannot be prepared is tried again later, not at once', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  let asked = 0
  stub.override = {
    prepare: async () => {
      asked += 1
      return { kind: 'refused', refusal: { code: 'fee_above_cap', detail: 'The cap is too low.' } }
    },
  }
  const due = new Date(fixture.clock.now())
  const [gapFiller] = await insert(
    fixture.context,
    newTransaction(owner, { purpose: 'gap_filler', nonce: 0n, nextRunAt: due }),
  )
  if (!gapFiller) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  await workAccount(fixture.context, owner.relayer.id)
  expect(asked).toBe(1)
  expect((await reload(fixture.context, gapFiller)).transaction).toMatchObject({
    status: 'pending',
    purpose: 'gap_filler',
    nonce: 0n,
    statusReason: 'Waiting: The cap is too low.',
  })
  fixture.clock.advance(2_000)
  await workAccount(fixture.context, owner.relayer.id)
  expect(asked).toBe(2)
})

test('no transaction is prepared behind one that waits', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const { prepare } = chainOf(createStubChain())
  let asked = 0
  let answers = false
  stub.override = {
    prepare: async (...question) => {
      asked += 1
      return answers ? prepare(...question) : { kind: 'unknown', detail: 'time-out' }
    },
  }
  const due = new Date(fixture.clock.now())
  const accept = () => newTransaction(owner, { createdAt: due, nextRunAt: due })
  const stored = await insert(fixture.context, accept(), accept(), accept())
  const step = async () => {
    asked = 0
    await workAccount(fixture.context, owner.relayer.id)
    fixture.clock.advance(2_000)
    return asked
  }
  expect(await step()).toBe(3)
  expect(await step()).toBe(1)
  answers = true
  expect(await step()).toBe(3)
  for (const transaction of stored)
    expect((await reload(fixture.context, transaction)).transaction.status).toBe('submitted')
})

test('a refusal that another endpoint has not confirmed ends nothing; the confirmed one does', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const refusal = { code: 'execution_reverted', detail: 'It would revert.' } as const
  let unanswered = true
  stub.override = {
    prepare: async () => ({
      kind: 'refused',
      refusal: unanswered ? { ...refusal, unanswered } : refusal,
    }),
  }
  const due = new Date(fixture.clock.now())
  const [stored] = await insert(fixture.context, newTransaction(owner, { createdAt: due, nextRunAt: due }))
  if (!stored) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  expect((await reload(fixture.context, stored)).transaction).toMatchObject({
    status: 'pending',
    purpose: 'request',
    statusReason: 'Waiting for another endpoint, or for later blocks, to confirm it: It would revert.',
    nextRunAt: new Date(due.getTime() + 2_000),
  })
  unanswered = false
  fixture.clock.advance(2_000)
  await workAccount(fixture.context, owner.relayer.id)
  expect((await reload(fixture.context, stored)).transaction).toMatchObject({
    status: 'failed',
    statusReason: 'It would revert.',
  })
})
