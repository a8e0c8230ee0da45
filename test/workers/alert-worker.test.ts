import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findOpenAlerts, findWatchedStates } from '../../src/alerts/alerts-store.ts'
import type { Database } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import type { Network } from '../../src/networks/network.ts'
import { createAlertWorker } from '../../src/workers/alert-worker.ts'
import { createHousekeepingWorker } from '../../src/workers/periodic-workers.ts'
import { createAdjustableClock, createTestClock, type TestClock } from '../support/clock.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

describe('the alert worker', () => {
  /** A supervisor starts the process again in this time, in ms. */
  const LIFE_MS = 12_000

  const NETWORK: Network = {
    type: 'evm',
    name: 'sepolia',
    chainId: 11_155_111,
    symbol: 'ETH',
    txFeeCap: 10n ** 18n,
    isTestnet: true,
    features: [],
    mempool: true,
    averageBlocktimeMs: 12_000,
    requiredConfirmations: 1,
    finality: 'depth',
    rpcUrls: [],
  }

  let database: Database
  let clock: TestClock
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  beforeEach(async () => {
    await emptyDatabase(database)
    clock = createTestClock()
  })
  afterAll(() => database.close())

  interface Life {
    /** Undefined while the endpoint was not asked. */
    readonly isUsable?: boolean | undefined
    /** The height that the nodes tell; undefined while they tell nothing. */
    readonly height?: bigint | undefined
    readonly isLeading?: boolean
  }

  /** A process that begins, looks once, and is killed. Returns what fires then. */
  async function live({ isUsable, height, isLeading = true }: Life): Promise<string[]> {
    const worker = createAlertWorker({
      db: database.db,
      // A process has a monotonic clock of its own.
      clock: { ...clock, monotonic: () => clock.monotonic() % 7_000 },
      log: createLogger({ level: 'silent' }),
      health: { readings: () => [], isLeading: () => isLeading },
      endpoints: () => [
        { network: 'evm:sepolia', endpoint: 'https://node/***', isUsable, notifications: [] },
      ],
      heads: () => [
        {
          network: NETWORK,
          state: height === undefined ? undefined : { number: height, ageMs: 0, halted: false, late: false },
          advanced: false,
          notifications: [],
        },
      ],
      pollHeads: () => {},
      namesOf: () => undefined,
    })
    await worker.start()
    await worker.stop()
    clock.advance(LIFE_MS)
    return (await findOpenAlerts(database.db)).map(({ kind }) => kind)
  }

  async function liveFor(ms: number, life: Life): Promise<string[]> {
    let fires: string[] = []
    for (let passed = 0; passed < ms; passed += LIFE_MS) fires = await live(life)
    return fires
  }

  test('an endpoint that is down while the service ends again and again is told once, and so is its end', async () => {
    const began = clock.now()
    expect(await liveFor(60_000, { isUsable: false })).toEqual([])
    expect(await live({ isUsable: undefined })).toEqual([])
    expect(await live({ isUsable: false })).toEqual(['endpoint_down'])
    expect((await findOpenAlerts(database.db))[0]?.since).toEqual(new Date(began))
    expect(await liveFor(60_000, { isUsable: true })).toEqual(['endpoint_down'])
    expect(await live({ isUsable: true })).toEqual([])
    expect(await findWatchedStates(database.db)).toEqual([])
  })

  test('an endpoint that was down, and was not checked for a minute, has to be down for another one', async () => {
    await liveFor(48_000, { isUsable: false })
    clock.advance(60_000)
    expect(await live({ isUsable: false })).toEqual([])
  })

  test('an endpoint that comes back in between starts from zero', async () => {
    await liveFor(48_000, { isUsable: false })
    await live({ isUsable: true })
    expect(await liveFor(60_000, { isUsable: false })).toEqual([])
  })

  test('a network that makes no block while the service ends again and again is told', async () => {
    expect(await liveFor(240_000, { height: 7n })).toEqual([])
    expect(await live({ height: 7n })).toEqual(['chain_halted'])
  })

  test('a process that does not look stores nothing', async () => {
    await liveFor(24_000, { isUsable: false, isLeading: false })
    expect(await findWatchedStates(database.db)).toEqual([])
  })
})

describe('the housekeeping worker', () => {
  const DAY_MS = 86_400_000
  const EVENTS = 2_000

  let database: Database

  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())

  async function addEvents(): Promise<void> {
    await sql`
    insert into events (type, payload) select 'notification_test', jsonb_build_object('text', repeat('x', 500))
    from generate_series(1, ${EVENTS}::bigint)`.execute(database.db)
  }

  async function countEvents(): Promise<number> {
    const { rows } = await sql<{ count: bigint }>`select count(*) as count from events`.execute(database.db)
    return Number(rows[0]?.count)
  }

  async function sizeOfEvents(): Promise<number> {
    const { rows } = await sql<{ bytes: bigint }>`select pg_relation_size('events') as bytes`.execute(
      database.db,
    )
    return Number(rows[0]?.bytes)
  }

  /** Runs the worker two days from now, until it has deleted all events. */
  async function cleanUp(): Promise<void> {
    const worker = createHousekeepingWorker({
      database,
      clock: createAdjustableClock(2 * DAY_MS),
      log: createLogger({ level: 'silent' }),
      owner: 'test',
      eventRetentionMs: DAY_MS,
      transactionRetentionMs: undefined,
    })
    worker.start()
    await until(countEvents, (count) => count === 0)
    await worker.stop()
  }

  test('new events use the room of deleted ones, so the embedded database does not grow', async () => {
    await addEvents()
    const full = await sizeOfEvents()
    await cleanUp()
    await addEvents()
    expect(await sizeOfEvents()).toBeLessThanOrEqual(full)
    await cleanUp()
  })

  test('a second round vacuums all tables', async () => {
    const clock = createAdjustableClock()
    const worker = createHousekeepingWorker({
      database,
      clock,
      log: createLogger({ level: 'silent' }),
      owner: 'test',
      eventRetentionMs: DAY_MS,
      transactionRetentionMs: undefined,
    })
    const read = async () => {
      const { rows } = await sql<{ age: number }>`
      select age(relfrozenxid) as age from pg_class where relname = 'transactions'`.execute(database.db)
      return Number(rows[0]?.age)
    }
    worker.start()
    const before = await read()
    await until(
      async () => {
        clock.advance(DAY_MS / 24)
        return read()
      },
      (age) => age < before,
    )
    await worker.stop()
  })
})
