import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createLogger } from '../../src/log.ts'
import type { Relayer } from '../../src/relayers/relayer.ts'
import { saveRelayer } from '../../src/relayers/store.ts'
import { findUsedQuotes, saveQuote, useQuotes } from '../../src/sponsoring/quotes-store.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const RELAYER: Relayer = {
  id: 'main',
  name: 'Main',
  network: 'local',
  networkType: 'solana',
  address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  signerId: 'dev',
  paused: false,
  systemDisabled: false,
  policies: {},
}

test('two accounts of a relayer that get the same payment at the same time see that one has used it', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const options = { url: await postgres.createDatabase(), dataDir: '' }
  const database = await openDatabase(options, createLogger({ level: 'silent' }))
  onTestFinished(() => database.close())
  await migrate(database)
  const { db } = database
  await db.transaction().execute((tx) => saveRelayer(tx, RELAYER))
  const now = new Date()
  const quote = { id: 'q', relayerId: 'main', content: 'c', token: 't', amount: 1n, fee: 1n, payer: 'p' }
  await saveQuote(db, { ...quote, validUntil: new Date(now.getTime() + 60_000) }, { now })
  const { other } = await db.transaction().execute(async (tx) => {
    expect(await findUsedQuotes(tx, ['q'])).toEqual(new Set())
    const other = db.transaction().execute((second) => findUsedQuotes(second, ['q']))
    await until(
      async () => (await sql`select from pg_locks where not granted`.execute(db)).rows.length,
      (waiting) => waiting > 0,
    )
    await useQuotes(tx, [{ quoteId: 'q', transactionId: 'x' }])
    return { other }
  })
  expect(await other).toEqual(new Set(['q']))
})
