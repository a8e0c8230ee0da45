import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  type Abi,
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  numberToHex,
  parseAbi,
} from 'viem'
import type { Outcome } from '../../../plugins/swap/advance.ts'
import type { SwapReport } from '../../../plugins/swap/report.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { untilReady } from '../../support/plugins.ts'
import {
  API_KEY,
  DEV_ADDRESSES,
  type Service,
  type ServiceOptions,
  startService,
  type Transaction,
} from '../../support/service.ts'
import { TOKEN_CODE } from '../x402/contract-code.ts'
import { ROUTER_CODE, WRAPPED_COIN_CODE } from './contract-code.ts'

/** The account of relayer `main`. */
export const RELAYER = DEV_ADDRESSES[0]

const TOKEN = parseAbi([
  'constructor(string name, string version, uint256 feePercent)',
  'function mint(address to, uint256 value)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
])

const ROUTER = parseAbi([
  'constructor(uint256 rate)',
  'function set(uint256 rate, uint256 given, bool simulatesWell)',
  'function fill(address coin) payable',
])

/** The last of anvil's accounts. */
const OUTSIDER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/** Wei for the smallest part of the token at 2000 tokens of six decimals for one coin. */
export const RATE = 10n ** 18n / 2_000_000_000n

/** The smallest parts of one token. */
export const ONE = 1_000_000n

/** A server of prices that tells what a test sets. */
export interface PriceServer {
  readonly url: string
  price: string
  ageSeconds: number
  /** Answers nothing usable. */
  isBroken: boolean
  stop(): Promise<void>
}

/** Starts a server that answers `{"price": "2000", "at": …}`. */
export async function startPrices(): Promise<PriceServer> {
  const server = createServer((_, response) => {
    const at = Math.floor(Date.now() / 1000) - prices.ageSeconds
    response.setHeader('content-type', 'application/json')
    response.end(prices.isBroken ? '<html>' : JSON.stringify({ price: prices.price, at }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const prices: PriceServer = {
    url: `http://127.0.0.1:${port}/price`,
    price: '2000',
    ageSeconds: 0,
    isBroken: false,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
  return prices
}

/** The source that asks such a server. */
export function httpSource({ url }: Pick<PriceServer, 'url'>): object {
  return { type: 'http', url, pointer: '/price', time_pointer: '/at', max_age_seconds: 60 }
}

/** The entry of the plugin. */
export function pluginEntry(config: object, more: object = {}): object {
  return {
    id: 'swap',
    path: join(import.meta.dirname, '../../../plugins/swap/index.ts'),
    mount: '/swap',
    raw_response: true,
    allow_get_invocation: true,
    scopes: ['relayers:read', 'transactions:read', 'transactions:write', 'rpc'],
    relayers: ['main'],
    config,
    ...more,
  }
}

/** The contracts of one test. */
export interface SwapContracts {
  readonly anvil: Anvil
  readonly prices: PriceServer
  readonly token: Hex
  readonly coin: Hex
  readonly router: Hex
  deploy(code: Hex, abi?: Abi, args?: readonly unknown[]): Promise<Hex>
  /** Sends from an account of anvil that no relayer uses, and waits for its block if there is to be one. */
  transact(call: object): Promise<void>
}

/** Everything that a swap on anvil needs. */
export interface SwapSite extends SwapContracts {
  readonly service: Service
  /** Starts one more service with the same configuration. */
  start(): Promise<Service>
  run(at?: Pick<Service, 'url'>): Promise<readonly Outcome[]>
  /** The same with the headers of another caller: the status and the body. */
  ask(path: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: unknown }>
  report(): Promise<SwapReport>
  mint(amount: bigint): Promise<void>
  balanceOf(account: Hex, token?: Hex): Promise<bigint>
  allowance(): Promise<bigint>
  /** Sets the price of the router, the share that it gives, and if it lies in blocks alone. */
  setRouter(rate: bigint, given?: bigint, simulatesWell?: boolean): Promise<void>
  /** Makes blocks from now on, or none but those that the test makes. */
  setMining(on: boolean): Promise<void>
  /** The records of the swaps, the oldest first. */
  records(): Promise<readonly Transaction[]>
  stop(): Promise<void>
}

/** The swap of a site, with changes. */
export function swapOf(contracts: SwapContracts, changes: object = {}): object {
  return {
    id: 'dollars',
    relayer_id: 'main',
    token: contracts.token,
    decimals: 6,
    router: {
      type: 'uniswap_v3',
      chain_id: 31337,
      address: contracts.router,
      pool_fee: 500,
      wrapped_coin: contracts.coin,
    },
    when: { token_above: '0' },
    most_at_once: (1_000n * ONE).toString(),
    most_a_day: (5_000n * ONE).toString(),
    price: { sources: [{ type: 'fixed', price: '2000' }, httpSource(contracts.prices)], band_bps: 100 },
    slippage_bps: 50,
    // The amounts of tests are small.
    most_cost_bps: 2_000,
    ...changes,
  }
}

interface SiteOptions {
  readonly swaps?: (contracts: SwapContracts) => readonly object[]
  readonly config?: object
  readonly entry?: (contracts: SwapContracts) => object
  readonly options?: Partial<ServiceOptions>
  /** The share of each transfer that the token keeps, in percent. */
  readonly tax?: bigint
  /** Makes another token. */
  readonly tokenCode?: Hex
}

/** Starts anvil with the contracts, a server of prices, and the service with the plugin at `/swap`. */
export async function startSwapSite({
  swaps = (contracts) => [swapOf(contracts)],
  config = {},
  entry = () => ({}),
  options = {},
  tax = 0n,
  tokenCode,
}: SiteOptions = {}): Promise<SwapSite> {
  const [anvil, prices] = await Promise.all([startAnvil({ args: ['--block-time', '1'] }), startPrices()])
  let isMining = true
  const client = createPublicClient({ transport: http(anvil.url), pollingInterval: 20 })
  const transact = async (call: object) => {
    const hash = await anvil.rpc<Hex>('eth_sendTransaction', [{ from: OUTSIDER, gas: '0x989680', ...call }])
    if (!isMining) return undefined
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`transaction ${hash} of the test was reverted`)
    return receipt
  }
  const deploy: SwapContracts['deploy'] = async (bytecode, abi = [], args = []) => {
    const receipt = await transact({ data: encodeDeployData({ abi, bytecode, args } as never) })
    if (!receipt?.contractAddress) throw new Error('no contract was created')
    return receipt.contractAddress.toLowerCase() as Hex
  }
  const token = tokenCode
    ? await deploy(tokenCode)
    : await deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', tax])
  const coin = await deploy(WRAPPED_COIN_CODE)
  const router = await deploy(ROUTER_CODE, ROUTER, [RATE])
  const contracts: SwapContracts = {
    anvil,
    prices,
    token,
    coin,
    router,
    deploy,
    transact: async (call) => void (await transact(call)),
  }
  const onRouter = (functionName: 'set' | 'fill', args: readonly unknown[]) => ({
    to: router,
    data: encodeFunctionData({ abi: ROUTER, functionName, args } as never),
  })
  await transact({ ...onRouter('fill', [coin]), value: numberToHex(10n ** 21n) })
  const start = async () => {
    const plugin = { swaps: swaps(contracts), callers: ['root'], timeout_seconds: 50, ...config }
    const service = await startService({
      rpcUrls: [anvil.url],
      plugins: [pluginEntry(plugin, entry(contracts))],
      ...options,
    })
    await untilReady(service)
    return service
  }
  const service = await start()
  const ask = async (path: string, init: RequestInit = {}, at: Pick<Service, 'url'> = service) => {
    const response = await fetch(`${at.url}/swap${path}`, {
      ...init,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...init.headers },
    })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const read = <Result>(address: Hex, functionName: 'balanceOf' | 'allowance', args: readonly Hex[]) =>
    client.readContract({ address, abi: TOKEN, functionName, args } as never) as Promise<Result>
  return {
    ...contracts,
    service,
    start,
    ask: (path, init) => ask(path, init),
    run: async (at) => {
      const { status, body } = await ask('/run', { method: 'POST', body: '{}' }, at)
      if (status !== 200) throw new Error(`refused: ${status} ${JSON.stringify(body)}`)
      return (body as { readonly swaps: readonly Outcome[] }).swaps
    },
    report: async () => {
      const { status, body } = await ask(`/swaps?day=${new Date().toISOString().slice(0, 10)}`)
      if (status !== 200) throw new Error(`refused: ${status} ${JSON.stringify(body)}`)
      return body as SwapReport
    },
    mint: async (amount) => {
      const data = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [RELAYER, amount] })
      await transact({ to: token, data })
    },
    balanceOf: (account, of = token) => read(of, 'balanceOf', [account]),
    allowance: () => read(token, 'allowance', [RELAYER, router]),
    setRouter: async (rate, given = 100n, simulatesWell = false) =>
      void (await transact(onRouter('set', [rate, given, simulatesWell]))),
    setMining: async (on) => {
      isMining = on
      await anvil.rpc('evm_setIntervalMining', [on ? 1 : 0])
    },
    records: async () => {
      const { body } = await service.api<Transaction[]>('GET', '/transactions?reference=swap:main&limit=100')
      return body.data.toReversed()
    },
    stop: async () => {
      await service.stop()
      await prices.stop()
      await anvil.stop()
    },
  }
}

/** What a record is for, by the beginning of its description. */
export function doings(records: readonly Transaction[]): readonly string[] {
  return records.map(({ description = '', status }) => {
    const [, does] = /^Swap \S+: (\w+)/.exec(description) ?? []
    return `${does} ${status}`
  })
}
