import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { acquireForLife, signalEnd, signalLife } from '../../src/database/processes.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { accountLeaseName, divideAccounts, SharedAccounts } from '../../src/workers/account-share.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const ACCOUNTS = Array.from({ length: 64 }, (_, index) => `relayer-${index}`)

const countsOf = (owners: ReadonlyMap<string, string>) =>
  [...Map.groupBy(owners, ([, owner]) => owner).values()].map(({ length }) => length)

const able = (ids: readonly string[]) => ids.map((id) => ({ id, cannotAct: [] }))

describe('the division of accounts', () => {
  test('gives every process the same number, up to one part', () => {
    for (const count of [1, 2, 3, 4, 7]) {
      const processes = able(Array.from({ length: count }, () => crypto.randomUUID()))
      const owners = divideAccounts(ACCOUNTS, processes)
      const most = Math.ceil(ACCOUNTS.length / count)
      // The ids are random: a division that is wrong says for which ones.
      const division = { processes, counts: countsOf(owners) }
      expect(division).toEqual({ processes, counts: division.counts.map((own) => Math.min(own, most)) })
      expect(owners.size, JSON.stringify(division)).toBe(ACCOUNTS.length)
    }
  })

  test('is the same for every process, whatever the order of its list of accounts', () => {
    const processes = able([crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()])
    const owners = divideAccounts(ACCOUNTS, processes)
    expect(divideAccounts(ACCOUNTS.toReversed(), processes)).toEqual(owners)
  })

  test('moves few accounts when a process starts, and a small part of the others when one dies', () => {
    const [first, ...others] = Array.from({ length: 4 }, (_, index) => `process-${index}`)
    const before = divideAccounts(ACCOUNTS, able(others))
    const after = divideAccounts(ACCOUNTS, able([first ?? '', ...others]))
    const moved = ACCOUNTS.filter((id) => before.get(id) !== after.get(id))
    expect(moved.filter((id) => after.get(id) === first)).toHaveLength(16)
    // Without a bound, those would be all. With one, some change their place among the others.
    expect(moved.length).toBeLessThan(ACCOUNTS.length / 2)
  })

  test('leaves no account to a process that cannot act for it, where another one can', () => {
    const foreign = ACCOUNTS.slice(0, 40)
    const processes = [
      { id: 'a', cannotAct: foreign },
      { id: 'b', cannotAct: [...foreign.slice(0, 2), 'removed'] },
    ]
    const owners = divideAccounts(ACCOUNTS, processes)
    expect(foreign.slice(2).map((id) => owners.get(id))).toEqual(Array(38).fill('b'))
    // No one can act for these: they belong to one of the two, and are tried again when either can.
    expect(['a', 'b']).toEqual(expect.arrayContaining(foreign.slice(0, 2).map((id) => owners.get(id))))
    expect(owners.size).toBe(ACCOUNTS.length)
  })
})

describe('the share of a process', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())

  const log = createLogger({ level: 'silent' })

  function startShare(cannotAct: readonly string[] = []) {
    const owner = crypto.randomUUID()
    const share = new SharedAccounts({
      db: database.db,
      clock: systemClock,
      log,
      owner,
      isAlone: false,
    })
    share.setAccounts(ACCOUNTS, cannotAct)
    const [loop] = share.loops
    if (loop === undefined) throw new Error('the share has no loop')
    return { owner, share, loop, own: () => ACCOUNTS.filter((id) => share.has(id)) }
  }

  const has = (share: { own(): string[] }, count: number) =>
    until(
      async () => share.own().length,
      (own) => own === count,
    )

  test('is everything alone, half with another one, and everything again when that ends or dies', async () => {
    const first = startShare()
    await first.loop.start()
    expect(first.own()).toHaveLength(64)
    const version = first.share.version
    const second = startShare()
    await second.loop.start()
    await has(first, 32)
    expect(first.share.version).toBeGreaterThan(version)
    expect([...first.own(), ...second.own()].sort()).toEqual(ACCOUNTS.toSorted())
    await second.loop.stop()
    await has(first, 64)
    // Its row is all that is left of a process that was killed.
    await database.db
      .insertInto('processes')
      .values({ id: 'killed', alive_until: new Date(Date.now() + 2_000) })
      .execute()
    await has(first, 32)
    await has(first, 64)
    await first.loop.stop()
  })

  test('has what another process says that it cannot act for, for as long as it says so', async () => {
    const foreign = ACCOUNTS.slice(0, 30)
    const first = startShare()
    const second = startShare(foreign)
    await first.loop.start()
    await second.loop.start()
    await until(
      async () => foreign.every((id) => first.share.has(id)),
      (all) => all,
    )
    expect(foreign.some((id) => second.share.has(id))).toBe(false)
    second.share.setAccounts(ACCOUNTS, [])
    await until(
      async () => foreign.some((id) => second.share.has(id)) && !foreign.every((id) => first.share.has(id)),
      (some) => some,
    )
    await has(first, 32)
    await second.loop.stop()
    await first.loop.stop()
  })

  test('a lease is kept between steps, and given up for another process when no step is under way', async () => {
    const first = startShare()
    await first.loop.start()
    const leases = new Map<string, bigint>()
    for (const id of ACCOUNTS) {
      const lease = await first.share.lease(id)
      if (lease) leases.set(id, lease.fence)
      if (id !== 'relayer-7') await first.share.release(id, { lost: false })
    }
    expect(leases.size).toBe(64)
    expect((await first.share.lease('relayer-1'))?.fence).toBe(leases.get('relayer-1'))
    await first.share.release('relayer-1', { lost: false })

    const second = startShare()
    await second.loop.start()
    await has(first, 32)
    const acquired = async (id: string) => (await second.share.lease(id)) !== undefined
    for (const id of second.own().filter((own) => own !== 'relayer-7'))
      expect(await until(() => acquired(id), Boolean)).toBe(true)
    for (const id of first.own()) expect(await acquired(id)).toBe(false)
    expect(await acquired('relayer-7')).toBe(false)
    for (const id of second.own()) await second.share.release(id, { lost: false })

    let isStopped = false
    const stopping = first.loop.stop().then(() => {
      isStopped = true
    })
    // It takes no other account, and stays alive until its step has ended.
    expect(await first.share.lease('relayer-1')).toBeUndefined()
    expect(isStopped).toBe(false)
    expect(await acquired('relayer-7')).toBe(false)
    await first.share.release('relayer-7', { lost: false })
    await stopping
    expect(await acquired('relayer-7')).toBe(true)
    await second.share.release('relayer-7', { lost: false })
    await second.loop.stop()
  })

  test('a lease that was lost is acquired again only when it is free', async () => {
    const { share, owner } = startShare()
    const name = accountLeaseName('lost')
    const before = await share.lease('lost')
    await share.release('lost', { lost: false })
    // The process has not said that it is alive, so it is dead to this one.
    const other = crypto.randomUUID()
    await signalLife(database.db, { id: other, cannotAct: [] })
    expect((await acquireForLife(database.db, { name, owner: other }))?.fence).toBe(2n)
    expect(await share.lease('lost')).toEqual(before)
    await share.release('lost', { lost: true })
    expect(await share.lease('lost')).toBeUndefined()
    await signalEnd(database.db, other)
    expect(await share.lease('lost')).toEqual({ name, owner, fence: 3n })
  })

  /** Runs work while every statement about leases fails. */
  async function withoutLeases(work: () => Promise<unknown>): Promise<void> {
    await sql`alter table leases rename to away`.execute(database.db)
    try {
      await work()
    } finally {
      await sql`alter table away rename to leases`.execute(database.db)
    }
  }

  test('a lease that the database could not give does not keep the process from stopping', async () => {
    const { share, loop } = startShare()
    await loop.start()
    await withoutLeases(() => expect(share.lease('relayer-1')).rejects.toThrow('leases'))
    await loop.stop()
  })

  test('a lease that could not be given up is given up later', async () => {
    const first = startShare()
    await first.loop.start()
    for (const id of ACCOUNTS) {
      await first.share.lease(id)
      await first.share.release(id, { lost: false })
    }
    const second = startShare()
    await withoutLeases(async () => {
      await second.loop.start()
      await has(first, 32)
      await until(async () => first.loop.health().error, Boolean)
    })
    for (const id of second.own())
      await until(async () => (await second.share.lease(id)) !== undefined, Boolean)
    for (const id of second.own()) await second.share.release(id, { lost: false })
    await second.loop.stop()
    await first.loop.stop()
  })
})
