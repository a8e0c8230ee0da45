import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { createEndpointPool, type EndpointPool } from '../../src/networks/endpoints.ts'
import { listUntrustedUrls, saveUntrustedUrls } from '../../src/networks/urls-store.ts'
import { openTestDatabase } from '../support/database.ts'

const NONE: ReadonlySet<string> = new Set()
const SLOW = { kind: 'slow', detail: 'no answer' } as const
const HOLD_MS = 30_000

/** A pool of `a`, `b`, … with these weights, a time that the test moves, and numbers that it draws. */
function setUp(...weights: readonly number[]) {
  const world = { now: 1_000_000, random: 0 }
  const urls = weights.map((weight, index) => ({ url: String.fromCharCode(97 + index), weight }))
  const pool = createEndpointPool({
    urls,
    blocktimeMs: 1_000,
    now: () => world.now,
    random: () => world.random,
  })
  return { world, pool }
}

const choose = (pool: EndpointPool, ...except: readonly string[]) => pool.choose(new Set(except))

describe('shares', () => {
  test.each([
    { weights: [100], random: 0.99, want: 'a' },
    { weights: [100, 100], random: 0.49, want: 'a' },
    { weights: [100, 100], random: 0.5, want: 'b' },
    { weights: [90, 10], random: 0.89, want: 'a' },
    { weights: [90, 10], random: 0.9, want: 'b' },
    { weights: [0, 1], random: 0, want: 'b' },
    { weights: [0], random: 0, want: undefined },
    { weights: [], random: 0, want: undefined },
  ])('weights $weights, drawn $random: $want', ({ weights, random, want }) => {
    const { world, pool } = setUp(...weights)
    world.random = random
    expect(pool.choose(NONE)).toBe(want)
  })

  test('come out over many choices', () => {
    const { world, pool } = setUp(80, 20)
    const chosen = Array.from({ length: 100 }, (_, index) => {
      world.random = index / 100
      world.now += HOLD_MS
      return pool.choose(NONE)
    })
    expect(chosen.filter((url) => url === 'a')).toHaveLength(80)
  })
})

describe('one choice', () => {
  test('holds for a while, so that one step sees one node', () => {
    const { world, pool } = setUp(50, 50)
    expect(pool.choose(NONE)).toBe('a')
    world.random = 0.9
    world.now += HOLD_MS - 1
    expect(pool.choose(NONE)).toBe('a')
    world.now += 1
    expect(pool.choose(NONE)).toBe('b')
  })

  test('ends when it fails, or another one was asked instead', () => {
    const { world, pool } = setUp(50, 50)
    pool.choose(NONE)
    world.random = 0.9
    pool.failed('a', { kind: 'down', detail: '' })
    expect(pool.choose(NONE)).toBe('b')
    world.random = 0
    expect(choose(pool, 'b')).toBe('a')
    world.random = 0.9
    expect(pool.choose(NONE)).toBe('a')
  })
})

describe('rest and trial', () => {
  test('a resting endpoint is asked only when no other is left', () => {
    const { pool } = setUp(99, 1)
    pool.failed('a', SLOW)
    expect(choose(pool)).toBe('b')
    expect(choose(pool, 'b')).toBe('a')
    expect(pool.awake()).toEqual(['b'])
  })

  test('one that asked for a pause is not asked, not even as the last one, and tells how long', () => {
    const { world, pool } = setUp(1)
    pool.failed('a', { kind: 'limited', detail: '429', retryAfterMs: 7_000 })
    expect(choose(pool)).toBeUndefined()
    expect(pool.waitMs(NONE)).toBe(7_000)
    expect(pool.waitMs(new Set(['a']))).toBeUndefined()
    world.now += 7_000
    expect(pool.waitMs(NONE)).toBe(0)
    expect(choose(pool)).toBe('a')
  })

  test('after a rest one request at a time tries it, and an answer brings it back', () => {
    const { world, pool } = setUp(99, 1)
    pool.failed('a', SLOW)
    world.now += HOLD_MS
    expect(choose(pool)).toBe('a')
    world.now += HOLD_MS
    expect(choose(pool)).toBe('b')
    pool.answered('a')
    world.now += HOLD_MS
    expect(choose(pool)).toBe('a')
    expect(pool.states()[0]).toMatchObject({ healthy: true })
  })

  test('the states tell of it, and of nothing that is not so', () => {
    const { pool } = setUp(1, 1)
    pool.failed('a', SLOW)
    pool.sawHead('b', 7n)
    expect(pool.states()).toEqual([
      { url: 'a', healthy: false, restsForMs: 5_000, lastError: 'no answer' },
      { url: 'b', healthy: true, neverAsked: true, head: 7n },
    ])
  })
})

describe('the highest block', () => {
  test('is that of any endpoint, outlives a lower answer of the same url, and is forgotten in time', () => {
    const { world, pool } = setUp(1, 1)
    expect(pool.highest()).toBeUndefined()
    pool.sawHead('a', 10n)
    pool.sawHead('b', 8n)
    expect(pool.highest()).toBe(10n)
    pool.sawHead('a', 9n)
    expect(pool.highest()).toBe(10n)
    expect(pool.states()[0]).toMatchObject({ head: 9n })
    world.now += 60_000
    pool.sawHead('a', 9n)
    expect(pool.highest()).toBe(9n)
  })
})

describe('stored RPC urls', () => {
  let database: Database

  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())

  test('urls of a network type that this release does not know are an error', async () => {
    const rpcUrls = [{ url: 'https://rpc.example', weight: 1, untrusted: true }] as const
    const known = { type: 'solana', name: 'devnet', rpcUrls, insteadOf: 'fingerprint' } as const
    const save = () => database.db.transaction().execute((tx) => saveUntrustedUrls(tx, known))
    expect(await save()).toBeUndefined()
    expect(await save()).toEqual(known)
    expect(await listUntrustedUrls(database.db)).toEqual([known])
    await database.db.updateTable('network_urls').set({ network_type: 'sui' }).execute()
    await expect(listUntrustedUrls(database.db)).rejects.toThrow('network type "sui" is unknown')
  })
})
