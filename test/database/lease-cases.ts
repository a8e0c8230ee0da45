import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import {
  acquireLease,
  assertFence,
  type Lease,
  LeaseLostError,
  releaseLease,
} from '../../src/database/lease.ts'
import { acquireForLife, findFree, signalEnd, signalLife } from '../../src/database/processes.ts'

const LONG_MS = 60_000

/** A lease of which the deadline has passed at once. */
const OVER_MS = -1

/** The part of the conformance suite about leases. */
export function describeLeases(get: () => Database): void {
  const name = () => `lease-${crypto.randomUUID()}`

  const take = (lease: { name: string; owner: string; ttlMs: number }) => acquireLease(get().db, lease)

  const mustTake = async (lease: { name: string; owner: string; ttlMs: number }): Promise<Lease> => {
    const taken = await take(lease)
    if (!taken) throw new Error('The lease should have been free.')
    return taken
  }

  const check = (lease: Lease) =>
    get()
      .db.transaction()
      .execute((tx) => assertFence(tx, lease))

  describe('leases', () => {
    test('of many who race, exactly one wins', async () => {
      const lease = name()
      const owners = Array.from({ length: 8 }, (_, index) => `owner-${index}`)
      const taken = await Promise.all(owners.map((owner) => take({ name: lease, owner, ttlMs: LONG_MS })))
      expect(taken.filter((one) => one !== undefined)).toHaveLength(1)
    })

    test('of many who race for one that ran out, exactly one wins', async () => {
      const lease = name()
      await mustTake({ name: lease, owner: 'gone', ttlMs: OVER_MS })
      const owners = Array.from({ length: 8 }, (_, index) => `owner-${index}`)
      const taken = await Promise.all(owners.map((owner) => take({ name: lease, owner, ttlMs: LONG_MS })))
      expect(taken.flatMap((one) => (one ? [one.fence] : []))).toEqual([2n])
    })

    test('the owner keeps it with the same fence', async () => {
      const lease = name()
      const first = await mustTake({ name: lease, owner: 'a', ttlMs: LONG_MS })
      expect(await take({ name: lease, owner: 'a', ttlMs: LONG_MS })).toEqual(first)
      expect(await take({ name: lease, owner: 'b', ttlMs: LONG_MS })).toBeUndefined()
    })

    test('a new owner gets a larger fence, and the old one is found out', async () => {
      const lease = name()
      const old = await mustTake({ name: lease, owner: 'a', ttlMs: OVER_MS })
      await check(old)
      const next = await mustTake({ name: lease, owner: 'b', ttlMs: LONG_MS })
      expect(next.fence).toBe(old.fence + 1n)
      await expect(check(old)).rejects.toThrow(LeaseLostError)
      await releaseLease(get().db, old)
      await check(next)
    })

    test('a first owner that comes back does so with a larger fence', async () => {
      const lease = name()
      const first = await mustTake({ name: lease, owner: 'a', ttlMs: OVER_MS })
      await mustTake({ name: lease, owner: 'b', ttlMs: OVER_MS })
      const again = await mustTake({ name: lease, owner: 'a', ttlMs: LONG_MS })
      expect(again.fence).toBe(3n)
      await expect(check(first)).rejects.toThrow(LeaseLostError)
    })

    test('a released one is free at once', async () => {
      const lease = name()
      await releaseLease(get().db, await mustTake({ name: lease, owner: 'a', ttlMs: LONG_MS }))
      expect(await take({ name: lease, owner: 'b', ttlMs: LONG_MS })).toMatchObject({ owner: 'b', fence: 2n })
    })

    test('no other owner acquires it between the check and the commit', async () => {
      const lease = name()
      const mine = await mustTake({ name: lease, owner: 'a', ttlMs: OVER_MS })
      const order: string[] = []
      const checked = Promise.withResolvers<void>()
      const work = get()
        .db.transaction()
        .execute(async (tx) => {
          await assertFence(tx, mine)
          checked.resolve()
          // Long enough for the other's statement to arrive and to be found waiting.
          await tx.selectNoFrom((eb) => eb.fn('pg_sleep', [eb.val(0.2)]).as('slept')).execute()
          order.push('worked')
        })
      await checked.promise
      const theft = take({ name: lease, owner: 'b', ttlMs: LONG_MS }).then((taken) => {
        order.push('taken')
        return taken
      })
      await work
      expect(await theft).toMatchObject({ owner: 'b', fence: 2n })
      expect(order).toEqual(['worked', 'taken'])
    })

    describe('for the life of a process', () => {
      /** What a process that died without a word leaves. */
      const dies = (id: string) =>
        get()
          .db.updateTable('processes')
          .set({ alive_until: new Date(0) })
          .where('id', '=', id)
          .execute()

      const signal = async (id: string, cannotAct: readonly string[] = []) =>
        (await signalLife(get().db, { id, cannotAct })).map((process) => process.id)

      const owners = () => [`a-${crypto.randomUUID()}`, `b-${crypto.randomUUID()}`] as const

      test('a process sees the others that are alive, and none that is dead or has ended', async () => {
        const [a, b] = owners()
        const { db } = get()
        expect(await signal(a)).toContain(a)
        expect(await signal(b)).toEqual(expect.arrayContaining([a, b]))
        await dies(a)
        expect(await signal(b)).not.toContain(a)
        expect(await signal(a)).toEqual(expect.arrayContaining([a, b]))
        await signalEnd(db, b)
        expect(await signal(a)).not.toContain(b)
      })

      test('a process says what it cannot act for, until it says otherwise', async () => {
        const [a, b] = owners()
        const { db } = get()
        const seenOf = async (id: string) =>
          (await signalLife(db, { id: b, cannotAct: [] })).find((process) => process.id === id)
        await signal(a, ['one', 'two'])
        expect(await seenOf(a)).toEqual({ id: a, cannotAct: ['one', 'two'] })
        await signal(a)
        expect(await seenOf(a)).toEqual({ id: a, cannotAct: [] })
        for (const id of [a, b]) await signalEnd(db, id)
      })

      test('one that died while the clock of the database was ahead is dead', async () => {
        const [a, b] = owners()
        await signal(a)
        const ahead = new Date(Date.now() + 3_600_000)
        await get().db.updateTable('processes').set({ alive_until: ahead }).where('id', '=', a).execute()
        expect(await signal(b)).not.toContain(a)
      })

      test('its leases last as long as it is alive, and no others', async () => {
        const [a, b] = owners()
        const [one, two] = [name(), name()]
        const { db } = get()
        await signal(a)
        await signal(b)
        const mine = await acquireForLife(db, { name: one, owner: a })
        expect(mine?.fence).toBe(1n)
        expect(await acquireForLife(db, { name: one, owner: a })).toEqual(mine)
        expect(await acquireForLife(db, { name: one, owner: b })).toBeUndefined()
        expect(await findFree(db, [one, two])).toEqual(new Set([two]))
        await dies(a)
        expect(await findFree(db, [one, two])).toEqual(new Set([one, two]))
        if (mine) await check(mine)
        expect(await acquireForLife(db, { name: one, owner: b })).toMatchObject({ owner: b, fence: 2n })
        if (mine) await expect(check(mine)).rejects.toThrow(LeaseLostError)
        await signalEnd(db, b)
        await signal(a)
        expect(await acquireForLife(db, { name: one, owner: a })).toMatchObject({ owner: a, fence: 3n })
      })

      test('of many who race for the lease of a dead one, exactly one wins', async () => {
        const lease = name()
        const { db } = get()
        await acquireForLife(db, { name: lease, owner: 'gone' })
        const rivals = Array.from({ length: 8 }, () => crypto.randomUUID())
        for (const id of rivals) await signal(id)
        const taken = await Promise.all(rivals.map((owner) => acquireForLife(db, { name: lease, owner })))
        expect(taken.filter((one) => one !== undefined)).toHaveLength(1)
        for (const id of rivals) await signalEnd(db, id)
      })
    })
  })
}
