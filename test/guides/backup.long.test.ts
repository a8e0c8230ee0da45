import { join } from 'node:path'
import { expect, test } from 'vitest'
import { API_KEY } from '../support/service.ts'
import { until } from '../support/until.ts'
import {
  cancel,
  get,
  list,
  reach,
  replace,
  type Service,
  send,
  sendAndConfirm,
  setUpBackup,
  TO,
} from './backup-story.ts'
import { guideBlock, runBackupBlock } from './guide-block.ts'

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

/** A nonce that is used without a receipt is looked at for half a minute before anything follows from it; in ms. */
const UNDECIDED_MS = 90_000

test('an old backup pays nothing twice and undoes no cancellation, when the guide is followed', async () => {
  const { anvil, root, backup, start } = await setUpBackup(['--no-mining'])
  const mine = () => anvil.rpc('anvil_mine', ['0x4'])
  const funds = async () => BigInt(await anvil.rpc<string>('eth_getBalance', [TO, 'latest']))
  const before = await funds()
  const old = await start('old', { RELAYER_MAX_IN_FLIGHT: '2' })
  const raised = await reach(old, (await send(old, 1)).id, 'submitted')
  const canceled = await reach(old, (await send(old, 20)).id, 'submitted')
  const waiting = await send(old, 300)
  await old.terminate()
  await moveToNew({ root, backup })

  const later = await start('old', { RELAYER_MAX_IN_FLIGHT: '3' })
  await replace(later, raised.id, 1)
  await cancel(later, canceled.id)
  await reach(later, waiting.id, 'submitted')
  await mine()
  for (const { id } of [raised, waiting]) await reach(later, id, 'confirmed')
  await reach(later, canceled.id, 'canceled')
  expect((await funds()) - before).toBe(301n)
  await later.terminate()

  expect(guideBlock('backup-and-restore.md', 'start a restored service')).toContain('relayer serve --paused')
  const env = { RELAYER_MAX_IN_FLIGHT: '3' }
  const restored = await start('new', env, ['--paused'])
  await anvil.rpc('evm_setIntervalMining', [1])
  const undecided = (service: Service, { id }: { id: string }) =>
    until(
      () => get(service, id),
      ({ status_reason: reason }) => reason?.includes('relayer tx decide') === true,
      { timeoutMs: UNDECIDED_MS },
    )
  await undecided(restored, raised)
  await undecided(restored, canceled)
  const api = { RELAYER_URL: restored.url, RELAYER_API_KEY: API_KEY, relayer: 'main' }
  const checked = await runBackupBlock('check what is open', api)
  for (const { id } of [raised, canceled, waiting]) expect(checked).toContain(id)
  expect(checked).toContain('has nonce 3 next on network anvil, and the records explain those below 2')
  await runBackupBlock('cancel what was paid', { ...api, transaction: waiting.id })
  await runBackupBlock('cancel what was paid', { ...api, transaction: canceled.id })
  await restored.terminate()
  const offline = { API_KEY, DATA_DIR: join(root, 'new', 'data'), CONFIG_DIR: join(root, 'new') }
  await runBackupBlock('decide what was paid with a higher fee', { ...offline, transaction: raised.id })
  await runBackupBlock('decide what was canceled', { ...offline, transaction: canceled.id })

  const after = await start('new', env)
  await until(
    async () => Promise.all([get(after, raised.id), get(after, canceled.id)]),
    ([paid, dropped]) => paid.status === 'confirmed' && dropped.status === 'canceled',
    { timeoutMs: UNDECIDED_MS },
  )
  expect(await get(after, waiting.id)).toMatchObject({ status: 'canceled' })
  await runBackupBlock('let a relayer sign again', { ...api, RELAYER_URL: after.url })
  expect(await sendAndConfirm(after, 4_000)).toMatchObject({ nonce: 3 })
  expect((await funds()) - before).toBe(4_301n)
}, 300_000)
