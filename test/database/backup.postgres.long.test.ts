import { afterAll, beforeAll, expect, test } from 'vitest'
import { followGuideWithOldBackup, list, sendAndConfirm, setUpBackup } from '../guides/backup-story.ts'
import { runBackupBlock } from '../guides/guide-block.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.stop())

test('a PostgreSQL database that was dumped while the service ran, and restored, has the same transactions', async () => {
  const { backup, start } = await setUpBackup()
  const [old, restored] = [await postgres.createDatabase(), await postgres.createDatabase()]
  const before = await start('old', { DATABASE_URL: old })
  await sendAndConfirm(before, 1)
  await sendAndConfirm(before, 2)
  await runBackupBlock('back up PostgreSQL', { backup, DATABASE_URL: old })
  const known = await list(before)
  await before.terminate()

  await runBackupBlock('restore PostgreSQL', { backup, DATABASE_URL: restored })
  const after = await start('new', { DATABASE_URL: restored })
  expect(await list(after)).toEqual(known)
  expect(await sendAndConfirm(after, 3)).toMatchObject({ nonce: 2 })
}, 60_000)

test('an old dump pays nothing twice, and every record says what happened, when the guide is followed', async () => {
  const setting = await setUpBackup(['--no-mining'])
  const [old, restored] = [await postgres.createDatabase(), await postgres.createDatabase()]
  const { backup } = setting
  await followGuideWithOldBackup(setting, {
    old: { DATABASE_URL: old },
    restored: { DATABASE_URL: restored },
    move: async () => {
      await runBackupBlock('back up PostgreSQL', { backup, DATABASE_URL: old })
      await runBackupBlock('restore PostgreSQL', { backup, DATABASE_URL: restored })
    },
  })
}, 300_000)
