import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { relayer } from '../../cli/spawn.ts'
import { startAnvil } from '../../support/anvil.ts'
import { startReceiver } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'

const OLD_KEY = Buffer.alloc(32, 'old').toString('base64')
const WRONG_KEY = Buffer.alloc(32, 'wrong').toString('base64')
const SIGNER_KEY = `0x${'42'.repeat(32)}`

async function setUp() {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-storage-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const receiver = await startReceiver()
  onTestFinished(() => receiver.stop())
  const dataDir = join(folder, 'data')
  const start = (key: string) =>
    startService({
      rpcUrls: [anvil.url],
      dataDir,
      env: { STORAGE_ENCRYPTION_KEY: key, RELAYER_ALLOW_PRIVATE_URLS: 'true' },
    })
  await relayer({ cwd: folder, args: ['init'] })
  const change = (key: string, ...args: string[]) =>
    relayer({
      cwd: folder,
      args: ['change-storage-key', ...args],
      env: { DATA_DIR: dataDir, STORAGE_ENCRYPTION_KEY: key },
    })
  return { folder, anvil, receiver, start, change }
}

/** Stores a secret of each kind. */
async function store(
  { api }: Service,
  { anvil, receiver }: { anvil: { url: string }; receiver: { url: string } },
) {
  const answers = [
    await api('POST', '/signers', { id: 'hot', type: 'plain', config: { key: SIGNER_KEY } }),
    await api('POST', '/notifications', {
      id: 'audit',
      type: 'webhook',
      url: `${receiver.url}/audit`,
      signing_key: 'a signing key of a caller, long enough',
    }),
    await api('PATCH', '/networks/evm:anvil', { rpc_urls: [`${anvil.url}/?key=1`] }),
    await api('POST', '/relayers', {
      id: 'payouts',
      name: 'Payouts',
      network: 'anvil',
      network_type: 'evm',
      signer_id: 'hot',
      custom_rpc_urls: [{ url: `${anvil.url}/?key=2` }],
      policies: { min_balance: 0 },
    }),
  ]
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [201, undefined],
    [201, undefined],
    [200, undefined],
    [201, undefined],
  ])
}

/** Uses the signer and the signing key. */
async function use(
  { api }: Service,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
  deliveries: number,
) {
  const { body } = await api<{ sig: string }>('POST', '/relayers/payouts/sign', { message: 'hello' })
  await api('POST', '/notifications/audit/test')
  await receiver.arrived(deliveries)
  const { body: list } = await api<{ has_signing_key: boolean }>('GET', '/notifications/audit')
  return { sig: body.data.sig, hasSigningKey: list.data.has_signing_key }
}

test('stored secrets are encrypted with another key all together, or not at all', async () => {
  const { folder, anvil, receiver, start, change } = await setUp()
  const first = await start(OLD_KEY)
  await store(first, { anvil, receiver })
  const before = await use(first, receiver, 1)
  await first.stop()
  const file = join(folder, 'storage.key')

  expect(await change(OLD_KEY)).toMatchObject({ code: 2, err: expect.stringContaining('Name the file') })
  const wrong = await change(WRONG_KEY, '--new-key-file', file)
  expect(wrong).toMatchObject({
    code: 1,
    err: expect.stringContaining('has STORAGE_ENCRYPTION_KEY changed?'),
  })
  const changed = await change(OLD_KEY, '--new-key-file', file)
  expect(changed).toMatchObject({ code: 0, out: expect.stringContaining('signers (1) and signing keys (2)') })
  const newKey = (await readFile(file, 'utf8')).trim()
  expect(changed.out).not.toContain(newKey)
  expect((await stat(file)).mode & 0o777).toBe(0o600)

  await expect(start(OLD_KEY)).rejects.toThrow('has STORAGE_ENCRYPTION_KEY changed?')
  const second = await start(newKey)
  onTestFinished(second.stop)
  expect(await use(second, receiver, 2)).toEqual({ ...before, hasSigningKey: true })
}, 120_000)

test('a file without a key of 32 bytes is refused, and the database stays closed', async () => {
  const { folder, change } = await setUp()
  const file = join(folder, 'short.key')
  await writeFile(file, 'too short\n')
  const refused = await change(OLD_KEY, '--new-key-file', file)
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('must be 32 bytes in base64') })
}, 60_000)
