/**
 * Fuzzes the whole contract against a running service: schemathesis with all phases and all checks, with a chain of each kind
 * and real relayers and transactions behind it. Needs Python 3 for the tool itself, which goes into .venv.
 * Arguments are handed on, for example `npm run fuzz -- --seed 7`; with `--docker` the tool comes from its image instead.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startEveryKind } from '../test/support/every-kind.ts'
import { API_KEY, RECEIVER, type Service } from '../test/support/service.ts'
import { until } from '../test/support/until.ts'

const VERSION = '4.32.5'
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const VENV = `${ROOT}.venv`
const TOOL = `${VENV}/bin/schemathesis`

/** schemathesis.toml reads the ids from here. */
const TRANSACTION_IDS = `${VENV}/fuzz-transaction-ids.txt`
const DELIVERY_IDS = `${VENV}/fuzz-delivery-ids.txt`

const IMAGE = `schemathesis/schemathesis:${VERSION}`
const DOCKER_FLAG = '--docker'

/** How many transactions are there from the start. */
const TRANSACTIONS = 3

/** Installs the pinned version into .venv, unless it is there. */
function installTool(): void {
  if (existsSync(TOOL) && execFileSync(TOOL, ['--version'], { encoding: 'utf8' }).includes(VERSION)) return
  execFileSync('python3', ['-m', 'venv', VENV], { stdio: 'inherit' })
  execFileSync(`${VENV}/bin/pip`, ['install', '--quiet', `schemathesis==${VERSION}`], { stdio: 'inherit' })
}

/** Transactions that wait in the pool of a node that does not mine, so that they can be replaced and canceled. */
async function sendSome(service: Service): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < TRANSACTIONS; count += 1) {
    const request = { to: RECEIVER, value: 1, speed: 'fast' }
    const { status, body } = await service.api('POST', '/relayers/main/transactions', request)
    if (status !== 200) throw new Error(`the first transactions were refused: ${body.error}`)
    ids.push(body.data.id)
  }
  return ids
}

/** Deliveries of their events, to a receiver that is not there, so that there are tries to look at. */
async function findDeliveries(service: Service): Promise<string[]> {
  const path = '/notifications/ops/deliveries'
  const list = await until(
    () => service.api<{ id: string }[]>('GET', path),
    ({ body }) => body.data.length >= TRANSACTIONS,
  )
  return list.body.data.map(({ id }) => id)
}

/** A relayer that may be changed and deleted without harm to the others. */
async function createSpare(service: Service): Promise<void> {
  const relayer = { id: 'spare', name: 'Spare', network: 'anvil', network_type: 'evm', signer_id: 'spare' }
  const { status, body } = await service.api('POST', '/relayers', relayer)
  if (status !== 201) throw new Error(`the spare relayer was refused: ${body.error}`)
}

/** A key that is read and changed, and one that is deleted. */
async function createApiKeys(service: Service): Promise<void> {
  for (const id of ['reader', 'spare']) {
    const key = { id, name: 'Reader', scopes: ['relayers:read'] }
    const { status, body } = await service.api('POST', '/api-keys', key)
    if (status !== 201) throw new Error(`the API key ${id} was refused: ${body.error}`)
  }
}

/** How often what the fuzzer did to the relayers that it needs is taken back, in ms. */
const KEEP_EVERY_MS = 500

/**
 * Along links the fuzzer pauses relayers that it needs, or gives them endpoints that lead nowhere; then they would refuse whatever it
 * tries next. All of them tell `ops`, so that it is in use and cannot be deleted with its deliveries. The result ends it.
 */
async function keepWorking(service: Service): Promise<() => void> {
  // Apart, so that the one is taken back where the other cannot be.
  const asBefore = [{ paused: false, policies: null, custom_rpc_urls: null }, { notification_id: 'ops' }]
  const takeBack = () =>
    Promise.all(
      ['main', 'other', 'stellar', 'solana'].flatMap((id) =>
        asBefore.map((change) => service.api('PATCH', `/relayers/${id}`, change)),
      ),
    )
  // Before the fuzzer begins: from then on they keep each other's notification.
  for (const { status, body } of await takeBack())
    if (status !== 200) throw new Error(`a relayer was not made ready: ${body.error}`)
  const timer = setInterval(() => void takeBack(), KEEP_EVERY_MS)
  return () => clearInterval(timer)
}

/** Beside real ids there is one of nothing. */
async function writeIds(file: string, ids: readonly string[]): Promise<void> {
  await writeFile(file, [...ids, 'nothing'].map((id) => JSON.stringify(id)).join('\n'))
}

function runTool(url: string): ChildProcess {
  const [file = '', ...args] = [
    ...(inDocker ? DOCKER_COMMAND : [TOOL]),
    'run',
    `${url}/openapi.json`,
    '--url',
    url,
    ...process.argv.slice(2).filter((argument) => argument !== DOCKER_FLAG),
  ]
  return spawn(file, args, { cwd: ROOT, env: { ...process.env, FUZZ_API_KEY: API_KEY }, stdio: 'inherit' })
}

/** On the host's network, because the service listens on loopback; the image finds its configuration in the folder. */
const DOCKER_COMMAND = [
  'docker',
  'run',
  '--rm',
  '--network=host',
  '--env=FUZZ_API_KEY',
  `--volume=${ROOT}:/app`,
  '--workdir=/app',
  IMAGE,
]

const inDocker = process.argv.includes(DOCKER_FLAG)
if (inDocker) await mkdir(VENV, { recursive: true })
else installTool()
const everyKind = await startEveryKind({
  anvil: { args: ['--no-mining'] },
  // The services that its signers name do not exist, and it need not wait for them.
  env: { RELAYER_KEY_SERVICE_TIMEOUT_MS: '100' },
})
const { service } = everyKind
try {
  await createSpare(service)
  await createApiKeys(service)
  await writeIds(TRANSACTION_IDS, await sendSome(service))
  await writeIds(DELIVERY_IDS, await findDeliveries(service))
  const stopKeeping = await keepWorking(service)
  const [code] = await once(runTool(service.url), 'exit')
  stopKeeping()
  process.exitCode = code ?? 1
} finally {
  await everyKind.stop()
}
