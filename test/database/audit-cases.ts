import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appendEntries, appendManagement } from '../../src/audit/append-store.ts'
import { type AuditedChange, auditLogOf, MANAGEMENT_LOG } from '../../src/audit/entry.ts'
import { listEntries } from '../../src/audit/read-store.ts'
import { type ChainReport, verifyLog } from '../../src/audit/verify.ts'
import type { Database, Db } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { ACTOR } from '../support/samples.ts'
import type { DatabaseUnderTest } from './conformance.ts'

const change = (id: string, after: object = { paused: true }): AuditedChange => ({
  author: ACTOR,
  action: 'updateRelayer',
  target: { type: 'relayer', id },
  before: { paused: false, text: 'a\u0000b', amount: 2n ** 200n },
  after,
})

/** The promises of the audit log, which every engine must keep. */
export function describeAudit(setUp: () => Promise<DatabaseUnderTest>): void {
  let underTest: DatabaseUnderTest
  let database: Database
  let db: Db

  beforeAll(async () => {
    underTest = await setUp()
    database = await underTest.open()
    db = database.db
    await migrate(database)
  }, 60_000)
  afterAll(async () => {
    await database.close()
    await underTest.remove()
  })

  const append = (chain: string, ...changes: AuditedChange[]) =>
    db.transaction().execute((tx) => appendEntries(tx, chain, changes))
  const reportOf = async (
    chain: string,
    kept?: ReadonlyMap<string, string>,
  ): Promise<ChainReport | undefined> => (await verifyLog(db, kept)).find((report) => report.chain === chain)

  /** Does what a person with the rights of a superuser can do: the trigger does not stop them. */
  async function tamper(statement: ReturnType<typeof sql>): Promise<void> {
    await sql`alter table audit_log disable trigger audit_log_append_only`.execute(db)
    await statement.execute(db)
    await sql`alter table audit_log enable trigger audit_log_append_only`.execute(db)
  }

  describe('the audit log', () => {
    test('of more entries than one statement has fits', async () => {
      const changes = Array.from({ length: 1_100 }, (_, index) => change(`many-${index}`))
      await append('sliced', ...changes)
      expect(await reportOf('sliced')).toMatchObject({ entries: 1_100n, problem: undefined })
    })

    test('of entries with every kind of value fits', async () => {
      const policies = {
        gas_price_cap: 10n ** 30n,
        at: new Date(0),
        list: [1, 1.5, 1e21, true, null, 'é\u{1f600}'],
      }
      await append('whole', change('a', policies), change('b'), change('c'))
      await append('whole', { ...change('d'), author: { keyId: 'operator' }, before: undefined })
      expect(await reportOf('whole')).toMatchObject({ entries: 4n, problem: undefined })
      const entries = await listEntries(db, { targetId: 'a', limit: 10 })
      expect(entries).toMatchObject([
        {
          chain: 'whole',
          number: 1n,
          actor: 'root',
          address: ACTOR.address,
          requestId: ACTOR.requestId,
          before: { paused: false, text: 'a\ufffdb', amount: (2n ** 200n).toString() },
          after: { gas_price_cap: '1000000000000000000000000000000', at: '1970-01-01T00:00:00.000Z' },
        },
      ])
    })

    test('of a database that no one has used is empty, and fits', async () => {
      const fresh = await setUp()
      const other = await fresh.open()
      await migrate(other)
      expect(await verifyLog(other.db)).toEqual([])
      await other.close()
      await fresh.remove()
    })

    test('has no entry of a change that was rolled back, and no gap in its place', async () => {
      await append('rolled', change('before'))
      const failed = db.transaction().execute(async (tx) => {
        await appendEntries(tx, 'rolled', [change('lost')])
        throw new Error('the change fails')
      })
      await expect(failed).rejects.toThrow('the change fails')
      await append('rolled', change('after'))
      expect(await reportOf('rolled')).toMatchObject({ entries: 2n, problem: undefined })
      expect(await listEntries(db, { targetId: 'lost', limit: 1 })).toEqual([])
    })

    test('of changes at the same time has no gap, and chains do not wait for each other', async () => {
      const chains = ['one', 'two', 'three'].map(auditLogOf)
      await append('one waits', change('x'))
      await db.transaction().execute(async (tx) => {
        await appendEntries(tx, 'one waits', [change('y')])
        // With one connection the embedded engine does one transaction after the other anyway.
        if (database.engine === 'postgres') await append('another', change('z'))
      })
      await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          append(chains[index % 3] ?? '', change(`${index}`), change(`${index}`)),
        ),
      )
      for (const chain of chains)
        expect(await reportOf(chain)).toMatchObject({ entries: 40n, problem: undefined })
    })

    test.each([
      ['changed', sql`update audit_log set actor = 'somebody' where chain = 'rows'`],
      ['removed', sql`delete from audit_log where chain = 'rows'`],
      ['truncated', sql`truncate audit_log`],
    ])('refuses that rows are %s', async (_name, statement) => {
      await append('rows', change('a'))
      await expect(statement.execute(db)).rejects.toThrow('append-only')
      expect(await reportOf('rows')).toMatchObject({ problem: undefined })
    })

    test.each([
      [
        'an author',
        (chain: string) => sql`update audit_log set actor = 'x' where chain = ${chain} and number = 2`,
      ],
      [
        'an address',
        (chain: string) => sql`update audit_log set address = null where chain = ${chain} and number = 2`,
      ],
      [
        'a request id',
        (chain: string) => sql`update audit_log set request_id = 'x' where chain = ${chain} and number = 2`,
      ],
      [
        'a time',
        (chain: string) =>
          sql`update audit_log set at = at - interval '1 ms' where chain = ${chain} and number = 2`,
      ],
      [
        'an action',
        (chain: string) => sql`update audit_log set action = 'x' where chain = ${chain} and number = 2`,
      ],
      [
        'a kind',
        (chain: string) => sql`update audit_log set target_type = 'x' where chain = ${chain} and number = 2`,
      ],
      [
        'an id',
        (chain: string) => sql`update audit_log set target_id = 'x' where chain = ${chain} and number = 2`,
      ],
      [
        'a former value',
        (chain: string) => sql`update audit_log set before = '{}' where chain = ${chain} and number = 2`,
      ],
      [
        'a new value',
        (chain: string) => sql`update audit_log set after = null where chain = ${chain} and number = 2`,
      ],
      [
        'a hash',
        (chain: string) => sql`update audit_log set hash = '\\x00' where chain = ${chain} and number = 2`,
      ],
    ])('shows that %s was changed', async (name, statement) => {
      const chain = `changed ${name}`
      await append(chain, change('a'), change('b'), change('c'))
      await tamper(statement(chain))
      expect(await reportOf(chain)).toMatchObject({ entries: 1n, problem: { kind: 'changed', entry: 2n } })
    })

    test.each([
      ['the first', 1n, 0n],
      ['one in the middle', 2n, 1n],
      ['the last', 3n, 2n],
    ])('shows that %s was removed', async (name, number, entries) => {
      const chain = `removed ${name}`
      await append(chain, change('a'), change('b'), change('c'))
      await tamper(sql`delete from audit_log where chain = ${chain} and number = ${number}`)
      expect(await reportOf(chain)).toMatchObject({ entries, problem: { kind: 'missing', entry: number } })
    })

    test('shows that one was removed and the others were numbered again', async () => {
      await append('renumbered', change('a'), change('b'), change('c'))
      await tamper(sql`delete from audit_log where chain = 'renumbered' and number = 2`)
      await tamper(sql`update audit_log set number = 2 where chain = 'renumbered' and number = 3`)
      expect(await reportOf('renumbered')).toMatchObject({ problem: { kind: 'changed', entry: 2n } })
    })

    test('shows that one was inserted at the end', async () => {
      await append('inserted', change('a'))
      await sql`insert into audit_log select chain, 2, at, actor, person, address, request_id, action, target_type, target_id, before, after,
        hash from audit_log where chain = 'inserted'`.execute(db)
      expect(await reportOf('inserted')).toMatchObject({ problem: { kind: 'changed', entry: 2n } })
    })

    test('shows that the stored end was moved back, changed, or removed', async () => {
      await append('end', change('a'), change('b'))
      const original = await sql<{
        hash: Uint8Array
      }>`select hash from audit_chains where chain = 'end'`.execute(db)
      await sql`update audit_chains set number = 1 where chain = 'end'`.execute(db)
      expect(await reportOf('end')).toMatchObject({ problem: { kind: 'appended', entry: 2n } })
      await sql`update audit_chains set number = 2, hash = '\\x00' where chain = 'end'`.execute(db)
      expect(await reportOf('end')).toMatchObject({ problem: { kind: 'head_changed', entry: 2n } })
      await sql`delete from audit_chains where chain = 'end'`.execute(db)
      expect(await reportOf('end')).toMatchObject({ problem: { kind: 'head_changed', entry: 2n } })
      await sql`insert into audit_chains values ('end', 2, ${original.rows[0]?.hash})`.execute(db)
      expect(await reportOf('end')).toMatchObject({ problem: undefined })
    })

    test('that was rewritten as a whole fits, and does not have a hash that was kept elsewhere', async () => {
      await append('rewritten', change('a'), change('b'))
      const kept = new Map([['rewritten', (await reportOf('rewritten'))?.head ?? '']])
      await append('rewritten', change('c'))
      expect(await reportOf('rewritten', kept)).toMatchObject({ entries: 3n, problem: undefined })
      await tamper(sql`delete from audit_log where chain = 'rewritten'`)
      expect(await reportOf('rewritten', kept)).toMatchObject({ problem: { kind: 'missing', entry: 1n } })
      await sql`delete from audit_chains where chain = 'rewritten'`.execute(db)
      expect(await reportOf('rewritten', kept)).toMatchObject({ problem: { kind: 'rewritten', entry: 0n } })
      await append('rewritten', change('a'), change('forged'), change('c'))
      expect(await reportOf('rewritten')).toMatchObject({ problem: undefined })
      expect(await reportOf('rewritten', kept)).toMatchObject({ problem: { kind: 'rewritten', entry: 3n } })
    })

    test('is listed newest first, page by page, and later entries move nothing', async () => {
      for (let round = 0; round < 5; round += 1)
        await append(`paged ${round % 2}`, ...Array.from({ length: 3 }, () => change('paged', { round })))
      const all = await listEntries(db, { targetId: 'paged', limit: 100 })
      expect(all).toHaveLength(15)
      expect(all.map(({ at }) => at.getTime())).toEqual(
        all.map(({ at }) => at.getTime()).toSorted((a, b) => b - a),
      )
      const paged = []
      for (let page = all.slice(0, 0); paged.length < 15; paged.push(...page)) {
        page = await listEntries(db, { targetId: 'paged', before: paged.at(-1), limit: 4 })
        expect(page.length).toBeGreaterThan(0)
        await append('paged 1', change('later'))
      }
      expect(paged).toEqual(all)
    })

    test('is found by each filter, also after its summaries were made', async () => {
      const author = { keyId: 'key-7', address: '198.51.100.1', requestId: 'wanted-request' }
      const target = { type: 'signer', id: 'wanted' } as const
      await db.transaction().execute((tx) => appendManagement(tx, { author, action: 'deleteSigner', target }))
      const [wanted] = await listEntries(db, { targetId: 'wanted', limit: 2 })
      if (wanted === undefined) throw new Error('the entry is missing')
      await append('many', ...Array.from({ length: 3_000 }, (_, index) => change(`of many ${index}`)))
      await sql`vacuum analyze audit_log`.execute(db)
      const { at } = wanted
      const filters = [
        { actor: 'key-7' },
        { action: 'deleteSigner' },
        { targetType: 'signer' },
        { targetId: 'wanted' },
        { requestId: 'wanted-request' },
        { actor: 'key-7', from: at, to: new Date(at.getTime() + 1) },
      ]
      for (const filter of filters) expect(await listEntries(db, { ...filter, limit: 9 })).toEqual([wanted])
      const outside = [
        { to: at },
        { from: new Date(at.getTime() + 1) },
        { actor: 'root' },
        { targetId: '\u0000' },
      ]
      for (const filter of outside)
        expect(await listEntries(db, { actor: 'key-7', ...filter, limit: 9 })).not.toContainEqual(wanted)
      expect(await reportOf(MANAGEMENT_LOG)).toMatchObject({ problem: undefined })
      expect(await reportOf('many')).toMatchObject({ entries: 3_000n, problem: undefined })
    })
  })
}
