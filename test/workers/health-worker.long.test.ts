import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Chain } from '../../src/chains/chain.ts'
import { acquireLease } from '../../src/database/lease.ts'
import { createHealthChecker } from '../../src/relayers/health/check-health.ts'
import { findRelayer, removeRelayer } from '../../src/relayers/store.ts'
import { createHealthWorker, type HealthWorker } from '../../src/workers/health-worker.ts'
import { createTestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { type Fixture, openFixture } from '../transactions/fixture.ts'
import { chainOf, createStubChain, type StubChain } from '../transactions/stub-chain.ts'

const INTERVAL_MS = 30_000

let fixture: Fixture
let running: HealthWorker | undefined
beforeAll(async () => {
  fixture = await openFixture()
})
afterEach(async () => {
  await running?.stop()
  await fixture.database.db.updateTable('relayers').set({ removed_at: new Date() }).execute()
})
afterAll(() => fixture.close())

/** A relayer on a chain of its own that counts how often it is asked. */
async function addRelayer() {
  const stub = createStubChain()
  const counter = { looks: 0 }
  answer(stub, counter)
  const { relayer } = await fixture.addAccount({ chain: chainOf(stub) })
  return { stub, counter, relayer }
}

function answer(stub: StubChain, counter: { looks: number }, verify: Chain['verify'] = async () => OK): void {
  stub.override = {
    verify: () => {
      counter.looks += 1
      return verify()
    },
  }
}
const OK = { kind: 'ok', value: undefined } as const

/** Starts the worker on a clock of its own. */
function startWorker(owner = 'this process') {
  const clock = createTestClock()
  const { db, log, runtimeOf } = fixture.context
  const prepare = async (relayer: Parameters<typeof runtimeOf>[0]) => runtimeOf(relayer)
  const checker = createHealthChecker({
    db,
    clock,
    log,
    findChainReset: async () => undefined,
    findUnexplained: async () => [],
    checkHistory: async () => ({ kind: 'explained' as const }),
    prepare,
  })
  running = createHealthWorker({ db, clock, log, owner, checker, prepare, intervalMs: INTERVAL_MS })
  running.start()
  /** Lets this many seconds go by, second by second, as the loop counts them. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await rested()
      clock.advance(1_000)
    }
    await rested()
  }
  /** The loop waits for its next round, and nothing that a check waits for is left. */
  const rested = () =>
    until(
      async () => clock.waiting,
      (waiting) => waiting === 1,
    )
  return { clock, pass, rested, worker: running }
}

test('a relayer is checked in intervals, and a disabled one after 10, 20, 30, 45, 60 and 60 s', async () => {
  const { stub, counter } = await addRelayer()
  const { pass, rested } = startWorker()
  await rested()
  expect(counter.looks).toBe(1)
  await pass(29)
  expect(counter.looks).toBe(1)
  stub.balance = { kind: 'ok', value: 0n }
  await pass(1)
  expect(counter.looks).toBe(2)
  for (const seconds of [10, 20, 30, 45, 60, 60]) {
    const before = counter.looks
    await pass(seconds - 1)
    expect(counter.looks).toBe(before)
    await pass(1)
    expect(counter.looks).toBe(before + 1)
  }
}, 60_000)

test('a relayer that is added is checked with the next interval, and one that is removed no more', async () => {
  const first = await addRelayer()
  const { pass, rested } = startWorker()
  await rested()
  const second = await addRelayer()
  await fixture.database.db.transaction().execute((tx) => removeRelayer(tx, first.relayer.id))
  await pass(30)
  expect([first.counter.looks, second.counter.looks]).toEqual([1, 1])
  await pass(30)
  expect([first.counter.looks, second.counter.looks]).toEqual([1, 2])
}, 60_000)

test('a chain that hangs holds up no other, and a check without an answer for a minute heard nothing', async () => {
  const hanging = await addRelayer()
  const well = await addRelayer()
  answer(hanging.stub, hanging.counter, () => new Promise(() => {}))
  const { clock } = startWorker()
  const look = (count: number) =>
    until(
      async () => {
        clock.advance(1_000)
        return well.counter.looks
      },
      (looks) => looks >= count,
    )
  await look(2)
  expect(hanging.counter.looks).toBe(1)
  await until(
    async () => {
      clock.advance(1_000)
      return (await findRelayer(fixture.database.db, hanging.relayer.id))?.disabledReason?.type
    },
    (type) => type === 'RpcValidationFailed',
  )
  expect(hanging.counter.looks).toBeGreaterThanOrEqual(3)
  expect((await findRelayer(fixture.database.db, well.relayer.id))?.systemDisabled).toBe(false)
}, 60_000)

test('a relayer that cannot act is left out, and the others are looked at', async () => {
  const { counter } = await addRelayer()
  const { relayer } = await addRelayer()
  await fixture.database.db
    .insertInto('relayers')
    .columns(['id', 'name', 'network', 'network_type', 'address', 'signer_id', 'paused', 'policies'])
    .expression((eb) =>
      eb
        .selectFrom('relayers')
        .select([
          'name as id',
          'name',
          'network',
          'network_type',
          'address',
          'signer_id',
          'paused',
          'policies',
        ])
        .where('id', '=', relayer.id),
    )
    .execute()
  const { pass } = startWorker()
  await pass(30)
  expect(counter.looks).toBe(2)
}, 60_000)

test('while another process has the lease nothing is asked, and afterwards immediately', async () => {
  const { counter } = await addRelayer()
  const lease = { name: 'health', owner: 'another process' }
  await acquireLease(fixture.database.db, { ...lease, ttlMs: 60_000 })
  const { pass } = startWorker()
  await pass(6)
  expect(counter.looks).toBe(0)
  await acquireLease(fixture.database.db, { ...lease, ttlMs: 0 })
  await pass(6)
  expect(counter.looks).toBe(1)
})

test('the readings are those of the last checks, and only the process with the lease has them', async () => {
  const { stub, relayer } = await addRelayer()
  stub.balance = { kind: 'ok', value: 1_500_000_000_000_000_000n }
  const { pass, rested, worker } = startWorker()
  await rested()
  const reading = { relayerId: relayer.id, network: relayer.network, networkType: 'evm' }
  expect(worker.readings()).toEqual([{ ...reading, balance: 1.5, spendable: 1_500_000_000_000_000_000n }])
  stub.balance = { kind: 'unknown', detail: 'silent' }
  await pass(30)
  expect(worker.readings()).toEqual([reading])
  const other = { name: 'health', owner: 'another process' }
  await fixture.database.db.updateTable('leases').set({ owner: other.owner }).execute()
  await pass(20)
  expect(worker.readings()).toEqual([])
  await acquireLease(fixture.database.db, { ...other, ttlMs: 0 })
})

test('the stop does not wait for a chain that hangs', async () => {
  const { stub, counter } = await addRelayer()
  answer(stub, counter, () => new Promise(() => {}))
  const { worker } = startWorker()
  await until(
    async () => counter.looks,
    (looks) => looks === 1,
  )
  await worker.stop()
})

/**
 * Adds so many relayers on one chain that counts the balances that it is asked for, and how often it is asked
 * at all.
 */
async function addMany(count: number, balancesPerCall: number) {
  const stub = createStubChain()
  const counter = { looks: 0 }
  answer(stub, counter)
  const chain = chainOf(stub)
  const balances: string[][] = []
  const nonces: string[][] = []
  const counted: Chain = {
    ...chain,
    balancesPerCall: () => balancesPerCall,
    balances: (addresses) => {
      balances.push([...addresses])
      return chain.balances(addresses)
    },
    sequencing: {
      nonces: async (addresses) => {
        nonces.push([...addresses])
        return addresses.map(() => stub.nonce)
      },
    },
  }
  const accounts = []
  for (let index = 0; index < count; index += 1) accounts.push(await fixture.addAccount({ chain: counted }))
  return { accounts, counter, balances, nonces, stub }
}

test('relayers of one chain are checked together, at the start and then at each interval', async () => {
  const { counter, balances } = await addMany(6, 750)
  const { pass, rested } = startWorker()
  await rested()
  await pass(29)
  expect([counter.looks, balances.length]).toEqual([1, 1])
  await pass(31)
  expect([counter.looks, balances.length]).toEqual([3, 3])
  expect(balances.every((addresses) => addresses.length === 6)).toBe(true)
}, 60_000)

test('accounts take turns where their balances need more calls than an interval has', async () => {
  const { accounts, balances } = await addMany(25, 2)
  const { pass, rested } = startWorker()
  await rested()
  expect(balances.map(({ length }) => length)).toEqual([25])
  await pass(30)
  await pass(30)
  expect(balances.map(({ length }) => length)).toEqual([25, 16, 16])
  expect(new Set(balances.slice(1).flat())).toEqual(new Set(accounts.map(({ relayer }) => relayer.address)))
}, 60_000)

test('two accounts at rest are checked whole in an interval, in turns, and every one whose balance changed', async () => {
  const { accounts, nonces, stub } = await addMany(9, 750)
  const { pass, rested } = startWorker()
  await rested()
  await pass(150)
  expect(nonces.map(({ length }) => length)).toEqual([9, 2, 2, 2, 2, 2])
  expect(new Set(nonces.slice(1).flat())).toEqual(new Set(accounts.map(({ relayer }) => relayer.address)))
  stub.balance = { kind: 'ok', value: 10n ** 19n }
  await pass(30)
  expect(new Set(nonces.slice(6).flat()).size).toBe(9)
}, 60_000)
