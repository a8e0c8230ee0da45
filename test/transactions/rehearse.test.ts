import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/engine.ts'
import { createLogger } from '../../src/log.ts'
import { rehearse } from '../../src/transactions/rehearse.ts'
import { SLOT_CHANNEL, WORK_CHANNEL } from '../../src/transactions/store/transactions-store.ts'
import { signForNobody } from '../../src/wiring/sign-for-nobody.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
const lines: string[] = []
const log = createLogger({ level: 'info' }, { write: (line) => void lines.push(line) })
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

/** The number of rows of each table that a transaction writes. */
async function countRows() {
  const { rows } = await sql`
    select (select count(*) from relayers) as relayers, (select count(*) from accounts) as accounts,
      (select count(*) from transactions) as transactions, (select count(*) from attempts) as attempts,
      (select count(*) from events) as events, (select count(*) from audit_log) as entries,
      (select count(*) from audit_chains) as chains, (select count(*) from leases) as leases,
      (select count(*) from finished_counts) as counts`.execute(database.db)
  return rows[0]
}

test('a rehearsal leaves nothing, and tells no listener', async () => {
  const heard: string[] = []
  for (const channel of [WORK_CHANNEL, SLOT_CHANNEL, 'events_written', 'relayers_changed'])
    await database.listen(channel, () => void heard.push(channel))
  const before = await countRows()
  await rehearse({ db: database.db, log, sign: signForNobody })
  expect(await countRows()).toEqual(before)
  expect(heard).toEqual([])
  expect(lines).toEqual([])
})

test('a rehearsal that fails is logged, and ends', async () => {
  await sql`alter table attempts rename to hidden`.execute(database.db)
  await rehearse({ db: database.db, log, sign: signForNobody })
  await sql`alter table hidden rename to attempts`.execute(database.db)
  expect(lines.join('')).toContain('rehearsal of a transaction failed')
  lines.length = 0
  await rehearse({ db: database.db, log, sign: signForNobody })
  expect(lines).toEqual([])
})
