import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSolana, type TestSolana } from '../../simulators/solana/start-solana.ts'
import { startLedger, type TestLedger } from '../../simulators/stellar/start-ledger.ts'
import { SOL } from '../../test/support/solana-scenario.ts'
import { XLM } from '../../test/support/stellar-scenario.ts'
import { type Child, runChild, startChild } from './child.ts'
import { say } from './say.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAIN = join(ROOT, 'scripts/relayer.mjs')
const ANVIL = join(ROOT, 'node_modules/.bin/anvil')

/** 100 ether in wei. */
const STARTING_BALANCE = '0x56bc75e2d63100000'

/** Everything the story plays on. */
export interface Stage {
  readonly url: string
  readonly rpcUrl: string
  readonly token: string
  /** The Stellar network. */
  readonly ledger: TestLedger
  /** The Solana network. */
  readonly solana: TestSolana
  /** One call of the API; the body of the answer. */
  api<Body>(method: string, path: string, body?: object): Promise<Body>
  /** One call of the node's JSON-RPC. */
  rpc<Result>(method: string, params?: readonly unknown[]): Promise<Result>
  tearDown(): Promise<void>
}

/** Starts a chain, makes a keystore and a configuration with the command line, and starts the service. */
export async function setUp(folder: string, program = MAIN): Promise<Stage> {
  say.step('Start a local EVM chain (anvil) that mines only when told')
  const chain = await startChild({
    command: [ANVIL, '--no-mining', '--port', '0'],
    ready: /Listening on (\S+)/,
  })
  const rpcUrl = `http://${chain.found}`
  say.fact('JSON-RPC', rpcUrl)

  say.step('Start a local Stellar ledger that closes only when told')
  const ledger = await startLedger({ closeEveryMs: 'manual' })
  say.fact('JSON-RPC', ledger.url)

  say.step('Start a local Solana node that makes blocks only when told')
  const solana = await startSolana({ slotMs: 'manual' })
  say.fact('JSON-RPC', solana.url)

  say.step('Make an encrypted keystore, an API key and a configuration: relayer init')
  const config = join(folder, 'config')
  await runChild([process.execPath, program, 'init', config])
  await adaptConfig(config, { rpcUrl, ledger, solana })
  say.fact('folder', config)

  say.step(
    'Give its accounts money, so that the service finds them well: relayer check-config tells which they are',
  )
  await fundAccounts([process.execPath, program, 'check-config'], { config, rpcUrl, ledger, solana })

  say.step('Start the service on an embedded database: relayer serve')
  const data = join(folder, 'data')
  const service = await startService({ program, config, data }).catch(async (error: unknown) => {
    await chain.stop()
    await ledger.stop()
    await solana.stop()
    throw error
  })
  const token = /^API_KEY=(.*)$/m.exec(await readFile(join(config, '.env'), 'utf8'))?.[1] ?? ''
  say.fact('API', `${service.found}/api/v1`)
  return createStage({ service, chain, ledger, solana, rpcUrl, token })
}

function startService({
  program,
  config,
  data,
}: Readonly<Record<'program' | 'config' | 'data', string>>): Promise<Child> {
  const env = {
    CONFIG_DIR: config,
    DATA_DIR: data,
    HOST: '127.0.0.1',
    APP_PORT: '0',
    LOG_LEVEL: 'info',
    NODE_ENV: 'development',
  }
  return startChild({
    command: [process.execPath, program, 'serve'],
    env,
    ready: /"url":"([^"]+)".*"msg":"service ready"/,
  })
}

/**
 * The starter's chain is on anvil's usual port; ours has taken a free one. The same key file serves accounts on Stellar
 * and Solana, and a notification makes the list less dull.
 */
async function adaptConfig(
  folder: string,
  { rpcUrl, ledger, solana }: { rpcUrl: string; ledger: TestLedger; solana: TestSolana },
): Promise<void> {
  const file = join(folder, 'config.json')
  const config = JSON.parse(await readFile(file, 'utf8'))
  config.networks[0].rpc_urls = [rpcUrl]
  config.notifications = [{ id: 'ops', type: 'webhook', url: 'https://example.com/hook' }]
  config.relayers[0].notification_id = 'ops'
  config.relayers.push({
    id: 'stellar-1',
    name: 'Stellar',
    network: 'standalone',
    network_type: 'stellar',
    signer_id: 'local',
    paused: false,
  })
  config.relayers.push({
    id: 'solana-1',
    name: 'Solana',
    network: 'local',
    network_type: 'solana',
    signer_id: 'local',
    paused: false,
  })
  config.networks.push({
    type: 'stellar',
    network: 'standalone',
    passphrase: ledger.passphrase,
    is_testnet: true,
    average_blocktime_ms: 1000,
    rpc_urls: [ledger.url],
  })
  config.networks.push({
    type: 'solana',
    network: 'local',
    genesis_hash: solana.genesisHash,
    is_testnet: true,
    average_blocktime_ms: 100,
    rpc_urls: [solana.url],
  })
  await writeFile(file, JSON.stringify(config, null, 2))
}

interface Parts {
  readonly service: Child
  readonly chain: Child
  readonly ledger: TestLedger
  readonly solana: TestSolana
  readonly rpcUrl: string
  readonly token: string
}

function createStage({ service, chain, ledger, solana, rpcUrl, token }: Parts): Stage {
  const url = service.found
  return {
    url,
    rpcUrl,
    token,
    ledger,
    solana,
    api: async (method, path, body) => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const answer = (await response.json()) as { error?: string }
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.error}`)
      return answer as never
    },
    rpc: async (method, params = []) => (await callNode(rpcUrl, method, params)) as never,
    tearDown: async () => {
      await service.stop()
      await chain.stop()
      await ledger.stop()
      await solana.stop()
    },
  }
}

/** Each gets a hundred of its own money. */
async function fundAccounts(
  checkConfig: readonly string[],
  { config, rpcUrl, ledger, solana }: Pick<Stage, 'rpcUrl' | 'ledger' | 'solana'> & { config: string },
): Promise<void> {
  const told = await runChild(checkConfig, { CONFIG_DIR: config })
  for (const [, relayer = '', address = ''] of told.matchAll(/relayer (\S+): (\S+) on/g)) {
    say.fact(relayer, address)
    if (relayer === 'stellar-1') ledger.fund(address, 100n * XLM)
    else if (relayer === 'solana-1') solana.airdrop(address, 100n * SOL)
    else await callNode(rpcUrl, 'anvil_setBalance', [address, STARTING_BALANCE])
  }
}

async function callNode(rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result: unknown; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
