import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  cancel,
  followGuideWithOldBackup,
  list,
  reach,
  send,
  sendAndConfirm,
  setUpBackup,
} from './backup-story.ts'
import { runBackupBlock } from './guide-block.ts'

/** Copies the folder of `old` to `new`, with the commands of the guide. */
async function moveToNew({ root, backup }: { root: string; backup: string }): Promise<void> {
  const foldersOf = (name: string) => ({ DATA_DIR: join(root, name, 'data'), CONFIG_DIR: join(root, name) })
  await runBackupBlock('back up an embedded database', { backup, ...foldersOf('old') })
  await runBackupBlock('restore an embedded database', { backup, ...foldersOf('new') })
}

test('an embedded database that was restored elsewhere has the same transactions, and goes on with the next nonce', async () => {
  const { root, backup, start } = await setUpBackup()
  const before = await start('old')
  await sendAndConfirm(before, 1)
  await sendAndConfirm(before, 2)
  const known = await list(before)
  await before.terminate()
  await moveToNew({ root, backup })
  const after = await start('new')
  expect(await list(after)).toEqual(known)
  expect(known.map(({ nonce }) => nonce)).toEqual([1, 0])
  expect(await sendAndConfirm(after, 3)).toMatchObject({ nonce: 2 })
}, 90_000)

test('what waits in an old backup can be canceled without a node, and is then never sent', async () => {
  const { anvil, root, backup, start } = await setUpBackup(['--no-mining'])
  const before = await start('old', { RELAYER_MAX_IN_FLIGHT: '1' })
  const signed = await reach(before, (await send(before, 1)).id, 'submitted')
  const waiting = await send(before, 2)
  await before.terminate()
  await moveToNew({ root, backup })

  const cutOff = await start('new', { rpcUrl: 'http://127.0.0.1:9' })
  expect(await cancel(cutOff, waiting.id)).toMatchObject({ status: 'canceled' })
  await cutOff.terminate()

  const after = await start('new')
  await anvil.rpc('anvil_mine', ['0x2'])
  await reach(after, signed.id, 'confirmed')
  expect((await list(after)).map(({ id, status }) => [id, status])).toEqual([
    [waiting.id, 'canceled'],
    [signed.id, 'confirmed'],
  ])
}, 90_000)

test('an old backup pays nothing twice, and every record says what happened, when the guide is followed', async () => {
  const setting = await setUpBackup(['--no-mining'])
  await followGuideWithOldBackup(setting, { old: {}, restored: {}, move: () => moveToNew(setting) })
}, 300_000)
