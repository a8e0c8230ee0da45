import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { startAnvil } from '../support/anvil.ts'
import { startProcess } from '../support/process.ts'
import { API_KEY } from '../support/service.ts'
import { until } from '../support/until.ts'
import { guideBlock, runBackupBlock } from './guide-block.ts'

/** Receives what the stories send. */
const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The fields of a record that the tests compare by name. */
interface Row {
  readonly id: string
  readonly status: string
  readonly status_reason?: string
  readonly nonce?: number
  readonly hash?: string
}

/** A running service. */
export type Service = Awaited<ReturnType<typeof startProcess>>

async function call(service: Service, path: string, init: RequestInit = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${service.url}/api/v1/relayers/main/transactions${path}`, {
    ...init,
    headers,
  })
  const answer = (await response.json()) as { data: unknown; error?: string }
  if (!response.ok) throw new Error(answer.error)
  return answer.data
}

/** The transactions of the relayer, newest first, whole. */
export const list = async (service: Service) => (await call(service, '')) as Row[]

/** Reads a transaction. */
const get = async (service: Service, id: string) => (await call(service, `/${id}`)) as Row

/** Sends a transaction. */
export const send = async (service: Service, value: number) =>
  (await call(service, '', {
    method: 'POST',
    body: JSON.stringify({ to: TO, value, speed: 'fast' }),
  })) as Row

/** Cancels a transaction. */
export const cancel = async (service: Service, id: string) =>
  (await call(service, `/${id}`, { method: 'DELETE' })) as Row

/** Replaces a transaction. */
const replace = async (service: Service, id: string, value: number) =>
  (await call(service, `/${id}`, {
    method: 'PUT',
    body: JSON.stringify({ to: TO, value, speed: 'fastest' }),
  })) as Row

/** Waits until a transaction has a status. */
export const reach = (service: Service, id: string, status: string): Promise<Row> =>
  until(
    () => get(service, id),
    (row) => row.status === status,
  )

/** Sends a transaction and waits until it is final. */
export const sendAndConfirm = async (service: Service, value: number) =>
  reach(service, (await send(service, value)).id, 'confirmed')

/** A chain, which mines by itself unless told otherwise, and folders that are removed at the end. */
export async function setUpBackup(args: readonly string[] = ['--block-time', '1']) {
  const anvil = await startAnvil({ args })
  onTestFinished(() => anvil.stop())
  const root = await mkdtemp(join(tmpdir(), 'relayer-backup-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const backup = join(root, 'backup')
  await mkdir(backup)
  const start = async (
    name: string,
    { rpcUrl = anvil.url, ...env }: Record<string, string> = {},
    args: readonly string[] = [],
  ) => {
    const service = await startProcess({ rpcUrl, folder: join(root, name), env, args })
    onTestFinished(async () => void (await service.kill()))
    return service
  }
  return { anvil, root, backup, start }
}

/**
 * A nonce that is used without a receipt is looked at for half a minute before anything follows from it; in
 * ms.
 */
const UNDECIDED_MS = 120_000

type Setting = Awaited<ReturnType<typeof setUpBackup>>

interface Engine {
  /** The variables of the service on the old and on the new machine. */
  readonly old: Readonly<Record<string, string>>
  readonly restored: Readonly<Record<string, string>>
  /** Backs up the old machine and restores it on the new one, by the guide. */
  readonly move: () => Promise<void>
}

interface Listed {
  readonly transaction_id: string
  readonly included: boolean | null
  readonly hash?: string
  readonly cancel?: boolean
}

/**
 * An old backup has a payment that was raised afterwards, one that was canceled, one that waited and was
 * paid, and one that waited and was canceled. The guide is followed word by word: nothing is paid twice, and
 * every record says what happened.
 */
export async function followGuideWithOldBackup(
  setting: Setting,
  { old, restored, move }: Engine,
): Promise<void> {
  const { anvil, root, start } = setting
  const funds = async () => BigInt(await anvil.rpc<string>('eth_getBalance', [TO, 'latest']))
  const before = await funds()
  const first = await start('old', { ...old, RELAYER_MAX_IN_FLIGHT: '2' })
  const raised = await reach(first, (await send(first, 1)).id, 'submitted')
  const canceled = await reach(first, (await send(first, 20)).id, 'submitted')
  const paid = await send(first, 300)
  const unsent = await send(first, 5_000)
  await first.terminate()
  await move()

  const later = await start('old', { ...old, RELAYER_MAX_IN_FLIGHT: '3' })
  await cancel(later, unsent.id)
  await replace(later, raised.id, 1)
  await cancel(later, canceled.id)
  await reach(later, paid.id, 'submitted')
  await anvil.rpc('anvil_mine', ['0x4'])
  const [raisedThen, paidThen] = [
    await reach(later, raised.id, 'confirmed'),
    await reach(later, paid.id, 'confirmed'),
  ]
  await reach(later, canceled.id, 'canceled')
  expect((await funds()) - before).toBe(301n)
  await later.terminate()

  expect(guideBlock('backup-and-restore.md', 'start a restored service')).toContain('relayer serve --paused')
  const env = { ...restored, RELAYER_MAX_IN_FLIGHT: '3' }
  const service = await start('new', env, ['--paused'])
  await anvil.rpc('evm_setIntervalMining', [1])
  const decisions = join(root, 'decisions.json')
  const api = {
    RELAYER_URL: service.url,
    RELAYER_API_KEY: API_KEY,
    relayer: 'main',
    decisions,
    rpc: anvil.url,
  }
  // The account is compared with its chain at the first health check.
  const checked = await until(
    async () => {
      await rm(decisions, { force: true })
      return runBackupBlock('check what is open', api)
    },
    (text) => text.includes('has nonce 3 next on network anvil, and the records explain those below 2'),
  )
  for (const { id } of [raised, canceled, paid, unsent]) expect(checked).toContain(id)
  const listed = (JSON.parse(await readFile(decisions, 'utf8')) as { decisions: Listed[] }).decisions
  const of = ({ id }: Row) => listed.find(({ transaction_id }) => transaction_id === id)
  expect(of(raised)).toMatchObject({ included: true, hash: raisedThen.hash })
  expect(of(canceled)).toMatchObject({ included: false, cancel: true })
  expect(of(paid)).toMatchObject({ included: true, hash: paidThen.hash })
  expect(of(unsent)).toMatchObject({ included: false })

  const open = () => Promise.all([raised, canceled, paid].map(({ id }) => get(service, id)))
  await until(
    async () => {
      await runBackupBlock('apply the decisions', api)
      return open()
    },
    (rows) => rows.every(({ status }) => ['confirmed', 'canceled'].includes(status)),
    { timeoutMs: UNDECIDED_MS },
  )
  const [raisedNow, canceledNow, paidNow] = await open()
  expect(raisedNow).toMatchObject({ status: 'confirmed', hash: raisedThen.hash })
  expect(canceledNow).toMatchObject({ status: 'canceled' })
  expect(paidNow).toMatchObject({
    status: 'confirmed',
    hash: paidThen.hash,
    status_reason: expect.stringContaining('Compared with the chain after a restore.'),
  })
  expect(await get(service, unsent.id)).toMatchObject({ status: 'pending' })
  await cancel(service, unsent.id)

  await runBackupBlock('let a relayer sign again', api)
  expect(await sendAndConfirm(service, 4_000)).toMatchObject({ nonce: 3 })
  expect((await funds()) - before).toBe(4_301n)
}
