import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createLogger } from '../../../src/log.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { startReceiver } from '../../support/receiver.ts'
import { answerWith, startRpcServer } from '../../support/rpc-server.ts'
import { type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SECRETS = ['RPCPASSWD', 'RPCPATHSECRET', 'RPCQUERYSECRET', 'HOOKPASSWD', 'HOOKTOKEN', 'FILEHOOKPATH']
const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')

const rpcUrl = (url: string) =>
  `${url.replace('://', '://user:RPCPASSWD@')}/v2/RPCPATHSECRET?key=RPCQUERYSECRET`
const hookUrl = (url: string) => `${url.replace('://', '://user:HOOKPASSWD@')}?token=HOOKTOKEN`

function expectNoSecret(text: string): void {
  expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([])
}

/** Returns the secrets that any file of the folder contains. */
async function searchFolder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const found = new Set<string>()
  for (const file of files) {
    const bytes = await readFile(file)
    for (const secret of SECRETS) if (bytes.includes(secret)) found.add(secret)
  }
  return SECRETS.filter((secret) => found.has(secret))
}

async function setUp() {
  const dataDir = await createDataDir()
  const receiver = await startReceiver()
  const endpoint = await startRpcServer(
    answerWith({ eth_chainId: '0x7a69', eth_blockNumber: '0x1', eth_getBalance: '0x1' }),
  )
  const lines: string[] = []
  const log = createLogger({ level: 'trace' }, { write: (line) => void lines.push(line) })
  onTestFinished(async () => {
    await receiver.stop()
    await endpoint.stop()
    await rm(dataDir, { recursive: true })
  })
  const start = (env: Record<string, string> = {}) =>
    startService({
      rpcUrls: [endpoint.url],
      dataDir,
      notificationUrl: `${receiver.url}/FILEHOOKPATH?token=HOOKTOKEN`,
      env: { RELAYER_ALLOW_PRIVATE_URLS: 'true', ...env },
      log,
    })
  return { dataDir, receiver, endpoint, start, logged: () => lines.join('') }
}

/** Stores a url of each kind, and uses the webhooks. Returns everything that was answered. */
async function store(service: Service, { endpoint, receiver }: Awaited<ReturnType<typeof setUp>>) {
  const { api } = service
  const url = rpcUrl(endpoint.url)
  const answers = [
    await api('PATCH', '/networks/evm:anvil', { rpc_urls: [url] }),
    await api('PATCH', '/relayers/other', { custom_rpc_urls: [{ url }] }),
    await api('POST', '/notifications', { id: 'chat', url: hookUrl(receiver.url) }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 201])
  for (const id of ['chat', 'ops']) {
    answers.push(await api('POST', `/notifications/${id}/test`))
    const { body } = await until(
      () => api<Schemas['Delivery'][]>('GET', `/notifications/${id}/deliveries`),
      ({ body: { data } }) => data[0]?.status === 'delivered',
    )
    answers.push(await api('GET', `/notifications/${id}/deliveries/${body.data[0]?.id}`))
    answers.push(await api('GET', `/notifications/${id}`))
  }
  answers.push(
    await api('GET', '/notifications'),
    await api('GET', '/relayers'),
    await api('GET', '/events?after=0'),
  )
  return answers.map(({ body }) => JSON.stringify(body))
}

test('urls with secrets are in no file of the database, no answer and no log, and are used after a restart', async () => {
  const setting = await setUp()
  const env = { STORAGE_ENCRYPTION_KEY: SEALING_KEY }
  const first = await setting.start(env)
  for (const answer of await store(first, setting)) expectNoSecret(answer)
  await first.stop()
  expect(await searchFolder(setting.dataDir)).toEqual([])
  const second = await setting.start(env)
  const { body } = await second.api<{ custom_rpc_urls: unknown }>('GET', '/relayers/other')
  expect(body.data.custom_rpc_urls).toEqual([{ url: `${setting.endpoint.url}/***`, weight: 100 }])
  await second.api('POST', '/notifications/chat/test')
  await setting.receiver.arrived(3)
  await second.stop()
  expect(await searchFolder(setting.dataDir)).toEqual([])
  expectNoSecret(setting.logged())
}, 60_000)

test('what a deployment without a key has stored is sealed by the first start with one', async () => {
  const setting = await setUp()
  const first = await setting.start()
  for (const answer of await store(first, setting)) expectNoSecret(answer)
  await first.stop()
  expect(await searchFolder(setting.dataDir)).toEqual(SECRETS)
  const second = await setting.start({ STORAGE_ENCRYPTION_KEY: SEALING_KEY })
  await second.api('POST', '/notifications/chat/test')
  await setting.receiver.arrived(3)
  await second.stop()
  await expect(setting.start()).rejects.toThrow('STORAGE_ENCRYPTION_KEY is needed')
}, 60_000)

test('answers show urls without secrets, and take none back', async () => {
  const setting = await setUp()
  const { api, stop } = await setting.start()
  onTestFinished(stop)
  const url = hookUrl(setting.receiver.url)
  await api('POST', '/notifications', { id: 'chat', url })
  const shown = async (id: string) =>
    (await api<{ url: string }>('GET', `/notifications/${id}`)).body.data.url
  const { host } = new URL(url)
  expect(await shown('ops')).toBe(`http://${host}/***`)
  expect(await shown('chat')).toBe(`http://***@${host}/hook?***`)
  for (const id of ['ops', 'chat']) {
    const { status, body } = await api('PATCH', `/notifications/${id}`, { url: await shown(id) })
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/^body\.url: expected the full URL, not a masked one/),
    ])
  }
  const { status, body } = await api('POST', '/notifications', { url: await shown('chat') })
  expect([status, body.code]).toEqual([400, 'invalid_request'])
  expect((await api('PATCH', '/notifications/chat', { url })).status).toBe(200)
})
