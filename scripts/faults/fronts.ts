import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { TWO_FACED_WALLET_CODE } from '../../test/plugins/x402/contract-code.ts'
import { paymentBy } from '../../test/plugins/x402/evm-payment.ts'
import {
  type EvmSite,
  FUNDS,
  NETWORK,
  type SiteService,
  startEvmSite,
} from '../../test/plugins/x402/evm-site.ts'
import { pluginEntry, untilReady } from '../../test/plugins/x402/plugin-entry.ts'
import { anvilNetwork, ON_ANVIL } from '../../test/support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../test/support/faulty-node.ts'
import { startProcess } from '../../test/support/process.ts'
import { createRandom, type Random } from '../../test/support/random.ts'
import { callService, DEV_KEYS, plainSigner, type ServiceOptions } from '../../test/support/service.ts'

// Histories of a front: buyers, hostile wallets, strangers who send first, floods, a node that fails, and kills of the service and of the plugin's
// process are drawn at random. The chain says who has paid: nobody is told success without payment, and whoever paid is told so when he asks again.

/** A history that was run. */
export interface FrontHistory {
  readonly seed: number
  readonly steps: readonly string[]
  readonly summary: string
  readonly violations: readonly string[]
}

interface Options {
  readonly seeds: readonly number[]
  readonly steps: number
  /** Returns false to end the campaign. */
  onHistory(history: FrontHistory): boolean
}

const STEPS = {
  buy: 5,
  askTwice: 2,
  buyFromWallet: 1,
  overtake: 2,
  steal: 1,
  flood: 1,
  killChild: 1,
  killService: 1,
  changeNode: 3,
} as const

/** What the run's plugin bounds. */
const MAX_GAS = 500_000
const FAILURES = { payer: 2, payee: 20, all: 20, open: 20 }
const AMOUNT = 10_000n

/** How long everybody asks again after the history, in ms. */
const SETTLE_MS = 60_000

interface Stage {
  readonly site: EvmSite
  readonly node: FaultyNode
  readonly service: KillableService
}

/** The service as a process of its own. It has another url after each kill. */
interface KillableService extends SiteService {
  /** SIGKILL, also of the processes of its plugins, which nobody else ends; then it starts again with what it stored. */
  kill(): Promise<void>
  /** The processes of its plugins. */
  children(): number[]
}

interface Answer {
  readonly success?: boolean
  readonly errorReason?: string
  readonly transaction?: string
}

/** A payment with all that was said about it. */
interface Purchase {
  readonly body: Awaited<ReturnType<typeof paymentBy>>
  readonly payer: Hex
  readonly nonce: Hex
  readonly answers: Answer[]
}

/** Runs histories one after the other on one chain and one service, each with payers of its own. */
export async function runFronts({ seeds, steps, onHistory }: Options): Promise<void> {
  let node: FaultyNode | undefined
  let service: KillableService | undefined
  const config = {
    networks: [{ network: NETWORK, relayer_id: 'main' }],
    failures: FAILURES,
    timeout_seconds: 15,
  }
  const site = await startEvmSite(
    {
      network: { required_confirmations: 1 },
      plugins: [pluginEntry([], { open_mount: true, config: { ...config, limits: [] } })],
    },
    ['--block-time', '1'],
    async (anvil) => {
      node = await startFaultyNode(anvil.url)
      return node.url
    },
    async (options) => {
      service = await startKillable(options)
      return service
    },
  )
  try {
    if (node === undefined || service === undefined) throw new Error('both were started with the site')
    await untilReady(site.service)
    for (const seed of seeds) if (!onHistory(await runHistory({ site, node, service }, seed, steps))) return
  } finally {
    await site.stop()
    await node?.stop()
  }
}

async function runHistory(
  { site, node, service }: Stage,
  seed: number,
  count: number,
): Promise<FrontHistory> {
  const random = createRandom(seed)
  const steps = Array.from({ length: count }, () => random.weighted(STEPS))
  const purchases: Purchase[] = []
  const work: Promise<unknown>[] = []
  const before = await site.balanceOf(site.payTo)
  const buy = async (payer: PrivateKeyAccount, from: Hex = payer.address) => {
    const body = await paymentBy(payer, { ...site, amount: AMOUNT, authorization: { from } })
    const { nonce } = body.paymentPayload.payload.authorization
    const purchase = { body, payer: from, nonce, answers: [] }
    purchases.push(purchase)
    return purchase
  }
  const acts: Readonly<Record<keyof typeof STEPS, () => Promise<void>>> = {
    buy: async () => void work.push(ask(site, await buy(await site.payer(AMOUNT)))),
    askTwice: async () => {
      const purchase = await buy(await site.payer(AMOUNT))
      work.push(ask(site, purchase), ask(site, purchase))
    },
    buyFromWallet: async () => {
      const wallet = await twoFaced(site, random)
      work.push(ask(site, await buy(await site.payer(0n), wallet)))
    },
    overtake: async () => {
      const purchase = await buy(await site.payer(AMOUNT))
      work.push(ask(site, purchase))
      await pause(random.int(0, 400))
      await sendFirst(site, purchase)
    },
    steal: async () => {
      // Two payments with funds for one: at most one of them can be paid.
      const payer = await site.payer(AMOUNT)
      work.push(ask(site, await buy(payer)), ask(site, await buy(payer)))
    },
    flood: async () => {
      const { body } = await buy(await site.payer(AMOUNT))
      work.push(...Array.from({ length: 30 }, () => call(site, 'verify', body)))
    },
    killChild: async () => {
      for (const pid of service.children()) process.kill(pid, 'SIGKILL')
    },
    killService: () => service.kill(),
    changeNode: async () => setMood(node, random),
  }
  for (const step of steps) {
    await acts[step]()
    await pause(random.int(0, 200))
  }
  await Promise.all(work)
  node.fault = () => 'pass'
  node.habits = undefined
  await Promise.all(purchases.map((purchase) => askUntilFinal(site, purchase)))
  return { seed, steps, ...(await judge(site, { purchases, before })) }
}

async function call(site: EvmSite, route: 'verify' | 'settle', body: unknown): Promise<Answer> {
  try {
    const response = await fetch(`${site.service.url}/x402/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Answer
  } catch {
    return {}
  }
}

async function ask(site: EvmSite, { body, answers }: Purchase): Promise<Answer> {
  const answer = await call(site, 'settle', body)
  answers.push(answer)
  return answer
}

/** Reasons after which a payment may still be made. */
const NOT_FINAL = ['settlement_pending', 'unexpected_settle_error', undefined]

async function askUntilFinal(site: EvmSite, purchase: Purchase): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  for (;;) {
    const { success, errorReason } = await ask(site, purchase)
    if (success === true || !NOT_FINAL.includes(errorReason) || Date.now() > deadline) return
    await pause(500)
  }
}

const WALLET = parseAbi(['constructor(bool burns)'])

async function twoFaced(site: EvmSite, random: Random): Promise<Hex> {
  const wallet = await site.deploy(TWO_FACED_WALLET_CODE, WALLET, [random.chance(0.5)])
  await site.mint(wallet, FUNDS)
  return wallet
}

const TOKEN = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
])

async function sendFirst(site: EvmSite, { body }: Purchase): Promise<void> {
  const { authorization, signature } = body.paymentPayload.payload
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { r, s, yParity } = parseSignature(signature)
  const data = encodeFunctionData({
    abi: TOKEN,
    functionName: 'transferWithAuthorization',
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, yParity + 27, r, s],
  })
  const price = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x174876e800' }
  const sender = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f'
  await site.anvil.rpc('eth_sendTransaction', [
    { from: sender, to: site.token, data, gas: '0x7a120', ...price },
  ])
}

/** Silence, lost answers, a node that is behind, and one that keeps no logs or denies that there are any. */
function setMood(node: FaultyNode, random: Random): void {
  const mood = random.pick(['well', 'slow', 'broken', 'behind', 'no logs', 'denies logs'] as const)
  const chances = random.fork('faults')
  node.fault = () => {
    if (mood === 'slow') return { kind: 'delay', ms: chances.int(0, 1_500) }
    if (mood === 'broken' && chances.chance(0.3)) return chances.pick(['drop', 'lose', 'http_500'] as const)
    return 'pass'
  }
  const isLogs = (method: unknown) => method === 'eth_getLogs'
  node.habits = {
    ...(mood === 'behind' && { behind: 2 }),
    ...(mood === 'no logs' && {
      refuse: ({ method }) => (isLogs(method) ? { code: -32_602, message: 'no logs here' } : undefined),
    }),
    ...(mood === 'denies logs' && {
      lie: ({ method }, reply) => (isLogs(method) ? { ...reply, result: [] } : reply),
    }),
  }
}

async function startKillable({ rpcUrls, network, plugins }: ServiceOptions): Promise<KillableService> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-fronts-'))
  const config = {
    relayers: [{ id: 'main', name: 'Main', signer_id: 'dev-0', ...ON_ANVIL }],
    signers: [plainSigner('dev-0', DEV_KEYS[0])],
    notifications: [],
    networks: [anvilNetwork(rpcUrls, network)],
    plugins,
  }
  const env = { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' }
  const start = () => startProcess({ rpcUrl: '', folder, config, env })
  let running = await start()
  return {
    get url() {
      return running.url
    },
    api: (method, path, body, headers) => callService(running.url, { method, path, body, headers }),
    children: () => pluginProcesses(running.child.pid),
    kill: async () => {
      const orphans = pluginProcesses(running.child.pid)
      await running.kill()
      for (const pid of orphans) killIfAlive(pid)
      running = await start()
    },
    stop: async () => {
      await running.terminate()
      await rm(folder, { recursive: true })
    },
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with the service.
  }
}

/** The processes of plugins that a service has started. */
function pluginProcesses(service: number | undefined): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, , , parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/\(.*\)/, '()')
        .split(' ')
      const isPlugin = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('plugin.mjs')
      return Number(parent) === service && isPlugin ? [Number(name)] : []
    } catch {
      return [] // It ended meanwhile.
    }
  })
}

interface Sent {
  readonly status: string
  readonly data?: string
  readonly gas_limit?: number
}

/** Compares what was said with what the chain has. */
async function judge(
  site: EvmSite,
  { purchases, before }: { readonly purchases: readonly Purchase[]; readonly before: bigint },
): Promise<Pick<FrontHistory, 'summary' | 'violations'>> {
  const violations: string[] = []
  let paid = 0
  for (const { payer, nonce, answers } of purchases) {
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'authorizationState', args: [payer, nonce] })
    const isPaid = BigInt(await site.anvil.rpc<Hex>('eth_call', [{ to: site.token, data }, 'latest'])) > 0n
    paid += isPaid ? 1 : 0
    const successes = answers.filter(({ success }) => success === true)
    const name = `the payment of ${payer}`
    const told = JSON.stringify(answers.at(-1))
    if (!isPaid && successes.length > 0) violations.push(`${name} was told success and is not made`)
    if (isPaid && answers.at(-1)?.success !== true) violations.push(`${name} is made, and is told ${told}`)
    const denials = answers.filter(({ errorReason }) => errorReason === 'invalid_transaction_state')
    if (isPaid && denials.length > 0) violations.push(`${name} was told that it is not made, and it is`)
    if (new Set(successes.map(({ transaction }) => transaction)).size > 1)
      violations.push(`${name} was told several transactions`)
  }
  const gained = (await site.balanceOf(site.payTo)) - before
  if (gained !== BigInt(paid) * AMOUNT)
    violations.push(`${paid} payments are made, and the payee got ${gained}`)
  const { body } = await site.service.api<readonly Sent[]>('GET', '/relayers/main/transactions?per_page=100')
  for (const { gas_limit = 0 } of body.data)
    if (gas_limit > MAX_GAS) violations.push(`a gas limit of ${gas_limit} was signed`)
  const wallets = new Set(purchases.map(({ payer }) => payer.slice(2).toLowerCase()))
  const failed = body.data.filter(
    ({ status, data = '' }) => status === 'failed' && [...wallets].some((wallet) => data.includes(wallet)),
  )
  const most = FAILURES.all + FAILURES.open
  if (failed.length > most) violations.push(`${failed.length} payments failed; ${most} are allowed`)
  return { summary: `${purchases.length} payments, ${paid} made, ${failed.length} failed`, violations }
}
