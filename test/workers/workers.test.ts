import { afterAll, beforeAll, expect, test } from 'vitest'
import { acquireLease } from '../../src/database/lease.ts'
import { systemClock } from '../../src/lib/time.ts'
import type { AccountShare, TransactionsContext } from '../../src/transactions/model/runtime.ts'
import type { Transaction } from '../../src/transactions/model/transaction.ts'
import {
  SLOT_CHANNEL,
  saveInOwnTransaction,
  WORK_CHANNEL,
} from '../../src/transactions/store/transactions-store.ts'
import { createSubmitWorker } from '../../src/workers/submit-worker.ts'
import { createWatchWorker } from '../../src/workers/watch-worker.ts'
import { until } from '../support/until.ts'
import {
  type Fixture,
  insert,
  newTransaction,
  openFixture,
  reload,
  type TestAccount,
} from '../transactions/fixture.ts'
import { chainOf, createStubChain, include } from '../transactions/stub-chain.ts'

let fixture: Fixture
let context: TransactionsContext
beforeAll(async () => {
  fixture = await openFixture()
  context = { ...fixture.context, clock: systemClock }
})
afterAll(() => fixture.close())

/** The share of the context, but for the answer to whether an account is one of this process. */
function shareThatHas(isOwn: boolean): AccountShare {
  const { share } = context
  return {
    version: share.version,
    has: () => isOwn,
    lease: (id) => share.lease(id),
    release: (id, step) => share.release(id, step),
  }
}

test('the submit worker is woken by the row itself, and ends its step before it stops', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  let arrive: () => void = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  stub.override = {
    broadcast: async (raws) => {
      arrive()
      await released
      return raws.map(() => ({ kind: 'accepted' }) as const)
    },
  }
  const worker = createSubmitWorker(context)
  const unlisten = await fixture.database.listen(WORK_CHANNEL, worker.wakeRelayer)
  worker.start()
  const [transaction] = await insert(context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!transaction) throw new Error('nothing was stored')
  await arrived
  const stopping = worker.stop()
  release()
  await stopping
  await unlisten()
  expect((await reload(context, transaction)).transaction.status).toBe('submitted')
})

test('work that is announced during a step of its account is done after it, without the backstop', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const release = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  stub.override = {
    broadcast: async (raws) => {
      arrived.resolve()
      await release.promise
      return raws.map(() => ({ kind: 'accepted' }) as const)
    },
  }
  // The clock stands still, so the backstop never comes.
  const worker = createSubmitWorker(fixture.context)
  const due = { nextRunAt: new Date(0) }
  const [first] = await insert(fixture.context, newTransaction(owner, due))
  worker.start()
  await arrived.promise
  const [second] = await insert(fixture.context, newTransaction(owner, due))
  if (!first || !second) throw new Error('nothing was stored')
  worker.wakeRelayer(owner.relayer.id)
  release.resolve()
  await until(
    async () => (await reload(fixture.context, second)).transaction.status,
    (status) => status === 'submitted',
  )
  await worker.stop()
  expect((await reload(fixture.context, first)).transaction.status).toBe('submitted')
})

const newOwner = () => fixture.addAccount({ chain: chainOf(createStubChain()) })

test('a relayer that is named has its step immediately, but none before the start and none after the stop', async () => {
  const [owner, other] = [await newOwner(), await newOwner()]
  // The clock stands still, so the only look for due rows is that of the start.
  const worker = createSubmitWorker(fixture.context)
  const store = async (sender: TestAccount) => {
    const [stored] = await insert(fixture.context, newTransaction(sender))
    return async () => stored && (await reload(fixture.context, stored)).transaction.status
  }
  const early = await store(owner)
  worker.wakeRelayer(owner.relayer.id)
  await worker.stop()
  expect(await early()).toBe('pending')

  const started = createSubmitWorker(fixture.context)
  started.start()
  await until(early, (status) => status === 'submitted')
  const present = await store(other)
  started.wakeRelayer(other.relayer.id)
  await started.stop()
  expect(await present()).toBe('submitted')

  const late = await store(other)
  started.wakeRelayer(other.relayer.id)
  await started.stop()
  expect(await late()).toBe('pending')
})

test('a slot that becomes free starts a step of a relayer that has something to sign, and of no other', async () => {
  const [busy, idle] = [await newOwner(), await newOwner()]
  const insertInto = async (owner: TestAccount, status: 'pending' | 'submitted') => {
    const [stored] = await insert(fixture.context, newTransaction(owner, { status }))
    if (!stored) throw new Error('nothing was stored')
    return stored
  }
  const submitted = (transaction: Transaction) =>
    until(
      async () => (await reload(fixture.context, transaction)).transaction.status,
      (status) => status === 'submitted',
    )
  // The clock stands still, so the only look for due rows is that of the start.
  const worker = createSubmitWorker(fixture.context)
  const unlisten = await fixture.database.listen(SLOT_CHANNEL, worker.wakeForSlot)
  const first = await insertInto(busy, 'pending')
  worker.start()
  await submitted(first)
  const occupying = [await insertInto(idle, 'submitted'), await insertInto(busy, 'submitted')]
  const waiting = await insertInto(busy, 'pending')
  await saveInOwnTransaction(
    fixture.context,
    occupying.map((transaction) => ({ ...transaction, status: 'mined' as const })),
  )
  await submitted(waiting)
  await worker.stop()
  await unlisten()
  const leases = await fixture.context.db.selectFrom('leases').select('name').execute()
  const names = leases.map(({ name }) => name)
  expect(names).toContain(`account:${busy.relayer.id}`)
  expect(names).not.toContain(`account:${idle.relayer.id}`)
})

test('an account is watched by the process to which it belongs', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const submit = createSubmitWorker(context)
  const [transaction] = await insert(context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!transaction) throw new Error('nothing was stored')
  submit.start()
  await submit.stop()
  const [hash] = stub.broadcasted
  if (!hash) throw new Error('nothing was offered')
  include(stub, hash)
  stub.nonce = { kind: 'ok', value: 1n }
  const target = { key: owner.relayer.id, runtime: owner.runtime, relayers: () => [owner.relayer] }
  const round = async (isOwn: boolean) => {
    const worker = createWatchWorker({ ...context, share: shareThatHas(isOwn) }, target)
    worker.start()
    await worker.stop()
    return (await reload(context, transaction)).transaction.status
  }
  expect(await round(false)).toBe('submitted')
  expect(await round(true)).toBe('mined')
})

test('an account of another process costs no step, unless it stays due and no process has leased it', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const share = shareThatHas(false)
  const name = `account:${owner.relayer.id}`
  const [transaction] = await insert(context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!transaction) throw new Error('nothing was stored')
  const { clock } = fixture
  const worker = createSubmitWorker({ ...context, share, clock })
  const looksAfter = async (ms: number) => {
    clock.advance(ms)
    worker.wake()
    await until(
      async () => clock.waiting,
      (waiting) => waiting === 1,
    )
  }
  await worker.start()
  worker.wakeRelayer(owner.relayer.id)
  worker.wakeForSlot(owner.relayer.id)
  await acquireLease(context.db, { name, owner: 'another process', ttlMs: 60_000 })
  await looksAfter(3_000)
  await acquireLease(context.db, { name, owner: 'another process', ttlMs: 0 })
  await looksAfter(1_000)
  expect(stub.broadcasted).toEqual([])
  clock.advance(3_000)
  worker.wake()
  await until(
    async () => stub.broadcasted.length,
    (count) => count === 1,
  )
  await worker.stop()
})
