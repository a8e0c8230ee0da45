import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { AccountShare } from '../../src/transactions/model/runtime.ts'
import { workAccount } from '../../src/transactions/submit/account-step.ts'
import type { Loop } from '../../src/workers/loop.ts'
import { createWatchWorker } from '../../src/workers/watch-worker.ts'
import { until } from '../support/until.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../transactions/fixture.ts'
import { chainOf, createStubChain, headAt, SILENT_NETWORK } from '../transactions/stub-chain.ts'

const BLOCKTIME_MS = SILENT_NETWORK.averageBlocktimeMs
const POLL_MS = BLOCKTIME_MS / 2

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
const running: Loop[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop()))
})
afterAll(() => fixture.close())

/** A watcher of a network with one transaction that waits, and a feed of new blocks that the test drives. */
async function setUp() {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
  await workAccount(fixture.context, owner.relayer.id)
  const feed = { live: true, tell: () => {}, stopped: false }
  let looks = 0
  stub.override = {
    head: async () => {
      looks += 1
      return stub.head
    },
    headSubscription: {
      subscribe: (listener) => {
        feed.tell = listener
        return {
          get live() {
            return feed.live
          },
          stop: () => {
            feed.stopped = true
          },
        }
      },
    },
  }
  const { relayer, runtime } = owner
  const division = { version: 0, isOwn: true }
  const share: AccountShare = {
    ...fixture.context.share,
    has: () => division.isOwn,
    get version() {
      return division.version
    },
  }
  const worker = createWatchWorker(
    { ...fixture.context, share },
    { key: relayer.id, runtime, relayers: () => [relayer] },
  )
  worker.start()
  running.push(worker)
  const rested = () =>
    until(
      async () => fixture.clock.waiting,
      (waiting) => waiting === 1,
    )
  /** Lets this many polls of the normal pace go by, and tells how often the chain was looked at in that time. */
  const looksIn = async (polls: number) => {
    const before = looks
    for (let poll = 0; poll < polls; poll += 1) {
      await rested()
      fixture.clock.advance(POLL_MS)
    }
    await rested()
    return looks - before
  }
  await rested()
  return { stub, worker, feed, division, looksIn, looks: () => looks }
}

test('without a feed the chain is looked at twice a block', async () => {
  const { feed, looksIn } = await setUp()
  feed.live = false
  expect(await looksIn(8)).toBe(8)
})

test('the chain is looked at once in four blocks while new blocks announce themselves', async () => {
  const { looksIn } = await setUp()
  expect(await looksIn(16)).toBe(2)
})

test('the chain is looked at immediately when a block is announced', async () => {
  const { stub, feed, looks } = await setUp()
  const before = looks()
  stub.head = headAt(101n)
  feed.tell()
  await until(
    async () => looks(),
    (count) => count === before + 1,
  )
})

test('the chain is looked at twice a block when something of a block is left open, feed or not', async () => {
  const { stub, feed, looksIn } = await setUp()
  stub.nonce = { kind: 'unknown', detail: 'no answer' }
  stub.head = headAt(101n)
  feed.tell()
  expect(await looksIn(6)).toBeGreaterThanOrEqual(6)
})

test('the chain is looked at with the next poll when an account arrives, not when only the division changed', async () => {
  const { division, looksIn } = await setUp()
  await looksIn(1)
  division.version += 1
  expect(await looksIn(1)).toBe(0)
  Object.assign(division, { version: 2, isOwn: false })
  expect(await looksIn(1)).toBe(0)
  Object.assign(division, { version: 3, isOwn: true })
  expect(await looksIn(1)).toBe(1)
})

test('the feed ends with the worker', async () => {
  const { worker, feed } = await setUp()
  await worker.stop()
  expect(feed.stopped).toBe(true)
})
