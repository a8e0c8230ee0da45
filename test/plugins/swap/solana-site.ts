import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Address, address, getAddressEncoder } from '@solana/kit'
import type { Outcome } from '../../../plugins/swap/advance.ts'
import type { SwapReport } from '../../../plugins/swap/report.ts'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import { createWallet, type Step, transferTokens } from '../../../simulators/solana/wallet.ts'
import {
  plantWalletProgram,
  type Vault,
  vaultOf,
  type WalletCall,
  walletStep,
} from '../../../simulators/solana/wallet-program.ts'
import { untilReady } from '../../support/plugins.ts'
import {
  API_KEY,
  type Service,
  type ServiceOptions,
  startService,
  type Transaction,
} from '../../support/service.ts'
import { MAIN as MAIN_TEXT, SOL, solanaConfig } from '../../support/solana-scenario.ts'
import { httpSource, type PriceServer, pluginEntry, startPrices } from './site.ts'

export const MAIN: Address = address(MAIN_TEXT)

/** The mint of wrapped SOL. */
const WRAPPED = address('So11111111111111111111111111111111111111112')

export const TOKEN_PROGRAM: Address = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')

/** Tokens of six decimals for one SOL. */
export const PRICE = '150'

/** The smallest parts of one token. */
export const ONE = 1_000_000n

/** What this many smallest parts of the token are worth, in lamports. */
export const worth = (amount: bigint): bigint => (amount * 1_000n) / 150n

/** What the router was asked for, with the accounts of its pool. */
export interface Asked {
  readonly amount: bigint
  /** The accounts that a router expects: those that the relayer has by convention. */
  readonly tokens: Address
  readonly coins: Address
  /** The pool: its signer, and what it holds. */
  readonly vault: Vault
  readonly poolTokens: Address
  readonly poolCoins: Address
  /** An account whose first byte the program can go by. */
  readonly switchAt: Address
}

/** A server with the interface of Jupiter's swap API, and what it answers. */
export interface RouterApi {
  readonly url: string
  /** The questions so far: path and query, or path and body. */
  readonly asked: string[]
  /** Makes the instruction of a swap. */
  swap(asked: Asked): Step
  /** Changes an answer before it is sent. */
  change(answer: Record<string, unknown>): unknown
  /** Answers in place of everything else. */
  instead: { readonly status: number; readonly headers?: object; readonly text: string } | undefined
}

/** The calls of an honest program: the amount into the pool, its worth out of it. */
export function honest({
  amount,
  tokens,
  coins,
  vault,
  poolTokens,
  poolCoins,
}: Asked): readonly WalletCall[] {
  return [
    transferTokens(tokens, poolTokens, MAIN, amount),
    transferTokens(poolCoins, coins, vault.address, worth(amount)),
  ]
}

/** The instruction with which the program makes these calls. */
export function swapBy(calls: (asked: Asked) => readonly WalletCall[]): (asked: Asked) => Step {
  return (asked) => walletStep(asked.vault, calls(asked), asked.switchAt)
}

/** Everything that a swap on Solana needs. */
export interface SolanaSwapSite {
  readonly solana: TestSolana
  readonly service: Service
  readonly prices: PriceServer
  readonly api: RouterApi
  readonly mint: Address
  readonly program: Address
  readonly asked: Asked
  /** Starts one more service with the same configuration. */
  start(): Promise<Service>
  run(at?: Pick<Service, 'url'>): Promise<Outcome>
  report(): Promise<SwapReport>
  /** Gives the relayer so many tokens, as if it had always had them. */
  give(amount: bigint): void
  tokens(): bigint
  lamports(): bigint
  /** Makes blocks from now on, or none but those of `solana.tick`. */
  setBlocks(on: boolean): void
  /** What the program reads. */
  turn(isOn: boolean): void
  /** The swap with changes, from the next run on. */
  configure(changes: object): Promise<void>
  /** The records of the swaps, the oldest first. */
  records(at?: Service): Promise<readonly Transaction[]>
  stop(): Promise<void>
}

interface SiteOptions {
  readonly changes?: object
  readonly entry?: (parts: { readonly mint: Address; readonly program: Address }) => object
  readonly options?: Partial<ServiceOptions>
  /** Starts what the service has in place of the node. */
  readonly front?: (url: string) => Promise<string>
  /** Default: a token of SPL Token. */
  readonly token?: SiteToken
}

/** How the token of a swap is planted, and the tokens of an owner. */
export interface SiteToken {
  readonly program: Address
  mint(solana: TestSolana, at: Address): void
  tokens(solana: TestSolana, at: Address, holding: Holding): void
}

interface Holding {
  readonly mint: Address
  readonly owner: Address
  readonly amount: bigint
}

const CLASSIC: SiteToken = {
  program: TOKEN_PROGRAM,
  mint: (solana, at) => plantMint(solana, at, { decimals: 6 }),
  tokens: plantTokens,
}

/** Between two blocks, in ms. */
const BLOCK_MS = 60

/** Starts a network with a pool and its program, the router's API, a server of prices, and the service. */
export async function startSolanaSwapSite({
  changes = {},
  entry = () => ({}),
  options = {},
  front = async (url) => url,
  token = CLASSIC,
}: SiteOptions = {}): Promise<SolanaSwapSite> {
  const [solana, prices] = await Promise.all([startSolana({ slotMs: 'manual' }), startPrices()])
  prices.price = PRICE
  let timer: NodeJS.Timeout | undefined
  const setBlocks = (on: boolean) => {
    clearInterval(timer)
    timer = on ? setInterval(() => solana.tick(), BLOCK_MS) : undefined
  }
  setBlocks(true)
  const [mint, program, poolTokens, poolCoins, switchAt] = Array.from(
    { length: 5 },
    () => createWallet().address,
  ) as [Address, Address, Address, Address, Address]
  solana.airdrop(MAIN, 10n * SOL)
  plantMint(solana, WRAPPED, { decimals: 9 })
  token.mint(solana, mint)
  plantWalletProgram(solana, program)
  const vault = await vaultOf(program, MAIN)
  token.tokens(solana, poolTokens, { mint, owner: vault.address, amount: 0n })
  plantCoins(solana, poolCoins, { owner: vault.address, amount: 1_000n * SOL })
  const turn = (isOn: boolean) =>
    solana.plant(switchAt, {
      lamports: SOL,
      data: Uint8Array.from([isOn ? 1 : 0]),
      owner: program,
      executable: false,
    })
  turn(false)
  const tokensAt = await associatedAddress(MAIN, mint, token.program)
  const coinsAt = await associatedAddress(MAIN, WRAPPED)
  const asked: Asked = {
    amount: 0n,
    tokens: tokensAt,
    coins: coinsAt,
    vault,
    poolTokens,
    poolCoins,
    switchAt,
  }
  const { api, stop: stopApi } = await startRouterApi(asked)
  const config = (more: object = {}) => ({
    swaps: [
      {
        id: 'dollars',
        relayer_id: 'main',
        token: mint,
        decimals: 6,
        router: { type: 'jupiter', network: 'local', url: api.url, programs: [program] },
        when: { token_above: '0' },
        most_at_once: (100n * ONE).toString(),
        most_a_day: (500n * ONE).toString(),
        price: { sources: [{ type: 'fixed', price: PRICE }, httpSource(prices)] },
        slippage_bps: 50,
        ...changes,
        ...more,
      },
    ],
    callers: ['root'],
    timeout_seconds: 50,
  })
  const urls = [await front(solana.url)]
  const start = async () => {
    const service = await startService({
      ...solanaConfig(solana, { urls }),
      plugins: [pluginEntry(config(), entry({ mint, program }))],
      ...options,
    })
    await untilReady(service)
    return service
  }
  const service = await start()
  const call = async <Body>(path: string, init: RequestInit, at: Pick<Service, 'url'> = service) => {
    const response = await fetch(`${at.url}/swap${path}`, {
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      ...init,
    })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }
  return {
    solana,
    service,
    prices,
    api,
    mint,
    program,
    asked,
    start,
    setBlocks,
    turn,
    run: async (at) => {
      const init = { method: 'POST', body: '{}' }
      const { swaps } = await call<{ readonly swaps: readonly Outcome[] }>('/run', init, at)
      if (swaps[0] === undefined) throw new Error('no swap ran')
      return swaps[0]
    },
    report: () => call<SwapReport>(`/swaps?day=${new Date().toISOString().slice(0, 10)}`, {}),
    give: (amount) => token.tokens(solana, tokensAt, { mint, owner: MAIN, amount }),
    tokens: () => Buffer.from(solana.account(tokensAt)?.data ?? Buffer.alloc(72)).readBigUInt64LE(64),
    lamports: () => solana.account(MAIN)?.lamports ?? 0n,
    configure: async (more) => {
      const { status, body } = await service.api('PATCH', '/plugins/swap', { config: config(more) })
      if (status !== 200) throw new Error(body.error)
    },
    records: async (at = service) => {
      const { body } = await at.api<Transaction[]>('GET', '/transactions?reference=swap:main&limit=100')
      return body.data.toReversed()
    },
    stop: async () => {
      setBlocks(false)
      await service.stop()
      await prices.stop()
      await stopApi()
      await solana.stop()
    },
  }
}

/** Puts wrapped SOL there, as if it had always been there (spl-token `Account`: `is_native` has the rent). */
function plantCoins(
  solana: TestSolana,
  at: Address,
  { owner, amount }: { readonly owner: Address; readonly amount: bigint },
): void {
  const data = Buffer.alloc(165)
  const rent = solana.rentExemption(data.length)
  data.set(getAddressEncoder().encode(WRAPPED), 0)
  data.set(getAddressEncoder().encode(owner), 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(1, 108)
  data.writeUInt32LE(1, 109)
  data.writeBigUInt64LE(rent, 113)
  solana.plant(at, {
    lamports: rent + amount,
    data: Uint8Array.from(data),
    owner: TOKEN_PROGRAM,
    executable: false,
  })
}

async function startRouterApi(asked: Asked): Promise<{ readonly api: RouterApi; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://router')
      const body = Buffer.concat(parts).toString()
      api.asked.push(`${request.method} ${url.pathname}${url.search} ${body}`)
      const { status, headers, text } = api.instead ?? { status: 200, text: answerTo(url, body) }
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(text)
    })
  })
  const answerTo = (url: URL, body: string): string => {
    if (url.pathname === '/v1/quote') {
      const inAmount = url.searchParams.get('amount') ?? '0'
      const quote = { inAmount, outAmount: String(worth(BigInt(inAmount))), contextSlot: 12, routePlan: [] }
      return JSON.stringify(api.change(quote))
    }
    const { quoteResponse } = JSON.parse(body) as { readonly quoteResponse: { readonly inAmount: string } }
    const { program, accounts, data } = api.swap({ ...asked, amount: BigInt(quoteResponse.inAmount) })
    const swapInstruction = {
      programId: program,
      accounts: accounts.map((use) => ({
        pubkey: use.address,
        isSigner: use.signs === true,
        isWritable: use.writes === true,
      })),
      data: Buffer.from(data).toString('base64'),
    }
    return JSON.stringify(api.change({ setupInstructions: [], swapInstruction, cleanupInstruction: null }))
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const api: RouterApi = {
    url: `http://127.0.0.1:${port}/v1?key=secret`,
    asked: [],
    swap: swapBy(honest),
    change: (answer) => answer,
    instead: undefined,
  }
  return {
    api,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
