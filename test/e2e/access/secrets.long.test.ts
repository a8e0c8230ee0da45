import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLogger } from '../../../src/log.ts'
import { encryptKeystore } from '../../../src/signers/keystore.ts'
import { startAnvil } from '../../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { scenarioOf } from '../../support/scenario.ts'
import {
  DEV_ADDRESSES,
  DEV_KEYS,
  plainSigner,
  RECEIVER,
  SERVICE_SECRETS,
  type Service,
  SIGNING_KEY,
  startService,
} from '../../support/service.ts'
import { MAIN, payment, startStellarScenario } from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const PASSPHRASE = 'a-passphrase-that-nobody-may-read'
const ROTATED_KEY = 'another-signing-key-of-thirty-two-characters'
const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')
const WRONG_KEY = 'a-wrong-key-that-somebody-else-might-have'
const URL_KEYS = [
  'rpc-key-in-the-path',
  'rpc-key-in-the-query',
  'webhook-key-in-the-path',
  'query-of-a-caller',
]

/** Everything that must be found nowhere. Keys in hex are looked for without their 0x, and in any case. */
const SECRETS = [
  ...SERVICE_SECRETS,
  Buffer.from(DEV_KEYS[0].slice(2), 'hex').toString('base64'),
  MAIN.secret(),
  Buffer.from(MAIN.rawSecretKey()).toString('hex'),
  WRONG_KEY,
  Buffer.from(SIGNING_KEY).toString('base64'),
  ROTATED_KEY,
  SEALING_KEY,
  PASSPHRASE,
  ...URL_KEYS,
]

const ENV = { STORAGE_ENCRYPTION_KEY: SEALING_KEY, METRICS_ENABLED: 'true', METRICS_PORT: '0' }

/** Everything that is logged, at the level that tells the most. */
function listen() {
  const lines: string[] = []
  const log = createLogger({ level: 'trace' }, { write: (line) => void lines.push(line) })
  return { log, lines, text: () => lines.join('') }
}

function expectNoSecret(text: string): void {
  const lower = text.toLowerCase()
  expect(SECRETS.filter((secret) => lower.includes(secret.toLowerCase()))).toEqual([])
}

const withKeys = (url: string) => `${url}/v2/rpc-key-in-the-path?key=rpc-key-in-the-query`

const FAULTS = ['drop', 'http_500', 'http_429', 'lose'] as const

/** From now on every other request to the node fails, each time in another way. */
function failOften(node: FaultyNode): void {
  let count = 0
  node.fault = () => {
    count += 1
    return count % 2 === 0 ? 'pass' : (FAULTS[Math.floor(count / 2) % FAULTS.length] ?? 'drop')
  }
}

async function keystoreSigner() {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-secrets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const options = { passphrase: PASSPHRASE, address: DEV_ADDRESSES[1], n: 2 ** 10 }
  const path = join(folder, 'key.json')
  await writeFile(path, await encryptKeystore(Buffer.from(DEV_KEYS[1].slice(2), 'hex'), options))
  return { id: 'dev-1', type: 'local', config: { path, passphrase: { type: 'plain', value: PASSPHRASE } } }
}

/** A receiver that fails in each way first, at an address that is a secret itself. */
async function startBadReceiver(): Promise<{ receiver: Receiver; url: string }> {
  const receiver = await startReceiver()
  onTestFinished(receiver.stop)
  let count = 0
  receiver.behave(() => {
    count += 1
    if (count % 3 === 1) return 500
    return count % 3 === 2 ? (response) => void response.destroy() : 204
  })
  return { receiver, url: `${receiver.url}/webhook-key-in-the-path` }
}

/** What callers do wrong, with secrets in their hands. */
async function misbehave({ url, api }: Service): Promise<void> {
  const path = '/relayers/main/transactions'
  await fetch(`${url}/api/v1${path}?token=query-of-a-caller`, {
    headers: { authorization: `Bearer ${WRONG_KEY}` },
  })
  await api('POST', path, `{ "private_key": "${DEV_KEYS[0]}", `)
  await api('POST', path, { private_key: DEV_KEYS[0], secret: MAIN.secret() })
  await api('POST', '/notifications/ops/signing-key', { signing_key: ROTATED_KEY, key: ROTATED_KEY })
  await api('POST', '/notifications/ops/signing-key', { signing_key: ROTATED_KEY })
  await api('POST', '/signers', { type: 'plain', config: { key: `${DEV_KEYS[0]}0` } })
  await api('POST', '/signers', { type: DEV_KEYS[0], config: { key: MAIN.secret(), secret: MAIN.secret() } })
  for (const key of [DEV_KEYS[0], MAIN.secret()]) {
    const { status } = await api('POST', '/signers', { type: 'plain', config: { key } })
    expect(status).toBe(201)
  }
  await api('POST', '/notifications', { url: 'nowhere', signing_key: ROTATED_KEY })
  await api('PATCH', '/notifications/ops', { signing_key: ROTATED_KEY })
  await api('PATCH', '/networks/evm:mainnet', { rpc_urls: [withKeys('http://127.0.0.1:9')] })
  await api('PATCH', '/networks/evm:mainnet', { rpc_urls: [withKeys('http://rpc.invalid')] })
}

/** What callers may do, with secrets in their urls; the answers must not give them back. */
async function changeEndpoints({ api }: Service): Promise<void> {
  const custom_rpc_urls = [{ url: withKeys('http://127.0.0.1:9') }]
  const body = { name: 'New', network: 'anvil', network_type: 'evm', signer_id: 'dev-0', custom_rpc_urls }
  const answers = [
    await api('POST', '/relayers', body),
    await api('POST', '/relayers', { ...body, custom_rpc_urls: [{ url: `ws${withKeys('://a.example')}` }] }),
    await api('PATCH', '/relayers/other', { custom_rpc_urls }),
    await api('GET', '/relayers/other'),
    await api('GET', '/relayers/other/status'),
    await api('GET', '/relayers/other/balance'),
    await api('PATCH', '/relayers/other', { custom_rpc_urls: null }),
  ]
  for (const answer of answers) expectNoSecret(JSON.stringify(answer.body))
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 200, 200, 200, 500, 200])
}

async function metricsOf({ metricsUrl = '' }: Service): Promise<string> {
  return (await fetch(metricsUrl)).text()
}

test('the search finds a secret wherever it stands', () => {
  expect(() => expectNoSecret(`{"msg":"signed with 0x${DEV_KEYS[0].slice(2).toUpperCase()}"}`)).toThrow()
  expect(() => expectNoSecret(`asking ${withKeys('https://node.example')}`)).toThrow()
  expectNoSecret('{"msg":"nothing"}')
})

test('an EVM service whose nodes and receivers fail logs and counts no secret', async () => {
  const { log, lines, text } = listen()
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const node = await startFaultyNode(anvil.url)
  onTestFinished(node.stop)
  const { receiver, url } = await startBadReceiver()
  const [first] = DEV_KEYS
  const service = await startService({
    rpcUrls: [withKeys(node.url), withKeys('http://127.0.0.1:9')],
    signers: [plainSigner('dev-0', first), await keystoreSigner()],
    notificationUrl: url,
    env: { ...ENV, RELAYER_ALLOW_PRIVATE_URLS: 'true' },
    log,
  })
  const story = scenarioOf(anvil, service)
  await changeEndpoints(service)
  failOften(node)
  await misbehave(service)
  const { id } = await until(
    () => service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1, speed: 'fast' }),
    ({ status }) => status === 200,
  ).then(({ body }) => body.data)
  await service.api('POST', '/relayers/main/sign', { message: 'hello' })
  await service.api('GET', `/relayers/main/transactions/${id}/diagnosis`)
  // They have had their say; what is under way may end now.
  node.fault = () => 'pass'
  await story.settle()
  await receiver.arrived(2)
  const metrics = await metricsOf(service)
  await story.stop()
  expectNoSecret(text())
  expectNoSecret(metrics)
  // The troubles did happen, and the lines that tell of them are there.
  expect(text()).toMatch(/RPC endpoint (did not answer|out of use)/)
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  const about = requests.filter(({ transaction }) => transaction === id)
  expect(about.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining(['sendTransaction', 'diagnoseTransaction']),
  )
  for (const { request_id } of requests) expect(request_id).toMatch(/^[0-9a-f-]{36}$/)
}, 90_000)

test('a Stellar service whose nodes and receivers fail logs no secret', async () => {
  const { log, text } = listen()
  const { receiver, url } = await startBadReceiver()
  const story = await startStellarScenario({
    relayer: { notification_id: 'ops' },
    notificationUrl: url,
    env: ENV,
    log,
    urls: (ledger) => [withKeys(ledger.url), withKeys('http://127.0.0.1:9')],
  })
  await misbehave(story.service)
  const { id } = await story.send(payment(10n))
  await story.closeUntil(id, 'confirmed')
  await receiver.arrived(2)
  const metrics = await metricsOf(story.service)
  await story.stop()
  expectNoSecret(text())
  expectNoSecret(metrics)
  expect(text()).toMatch(/RPC endpoint (did not answer|out of use)/)
}, 90_000)
