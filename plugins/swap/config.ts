import { isAddress } from '@solana/kit'
import type { Hex } from 'viem'
import {
  EVM_SOURCE_TYPES,
  type EvmPriceSource,
  readEvmAddress,
  readEvmSource,
  readFixedPrice,
} from '../shared/evm-prices.ts'
import { Fields } from '../shared/fields.ts'
import { type HttpPrice, readHttpSource } from '../shared/http-price.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAMS,
  WRAPPED_SOL,
} from '../shared/solana-transaction.ts'

/** Where a price comes from. */
export type SwapSource = EvmPriceSource | ({ readonly type: 'http' } & HttpPrice)

/** A router with the interface of Uniswap's SwapRouter02, and the pool and the wrapped coin that it uses. */
export interface EvmRouter {
  readonly type: 'uniswap_v3'
  readonly chainId: number
  readonly address: Hex
  /** In millionths, as it names the pool. */
  readonly poolFee: number
  /** Addresses are in lower case. */
  readonly wrappedCoin: Hex
}

/** The order books and pools of a Stellar network, through a path payment of the account to itself. */
export interface StellarRouter {
  readonly type: 'stellar_path'
  /** As requests name it, such as `pubnet`. */
  readonly network: string
  /** The assets between the token and lumens, as `CODE:ISSUER`. */
  readonly path: readonly string[]
}

/** A router with the interface of Jupiter's swap API, and the programs that it may call. */
export interface SolanaRouter {
  readonly type: 'jupiter'
  /** As the configuration names it, such as `mainnet-beta`. */
  readonly network: string
  readonly url: string
  /** The only programs whose swap is signed. */
  readonly programs: readonly string[]
}

/** A swap of one token of one relayer. Amounts are in the smallest units of the token and the coin. */
export interface Swap<Router = EvmRouter | StellarRouter | SolanaRouter> {
  readonly id: string
  readonly relayerId: string
  /** The address in lower case, `CODE:ISSUER`, or the address of a mint. */
  readonly token: string
  readonly decimals: number
  readonly router: Router
  /** It is due if all that are given hold: the relayer has less of the coin, more of the token. */
  readonly when: { readonly coinBelow: bigint | undefined; readonly tokenAbove: bigint | undefined }
  readonly mostAtOnce: bigint
  /** Within 24 hours. */
  readonly mostADay: bigint
  /** The tokens that stay. */
  readonly leastLeft: bigint
  /** Two, that different parties tell. */
  readonly sources: readonly SwapSource[]
  /** The prices may differ by so much of the lower one. */
  readonly bandBps: bigint
  /** So much less than at the worse price may arrive. */
  readonly slippageBps: bigint
  /** The fees of the network may be so much of what arrives. */
  readonly mostCostBps: bigint
  /** Transactions end so many seconds after they are requested. */
  readonly validSeconds: number
  /** The transaction after which the router was stopped, and at which the operator has looked since. */
  readonly lookedAt: string | undefined
}

/** The settings of the plugin: its field `config` in the configuration file. */
export interface Settings {
  readonly swaps: readonly Swap[]
  /** The ids of the API keys that may run swaps and read what they cost. */
  readonly callers: ReadonlySet<string>
  /** How long a call waits for blocks. */
  readonly timeoutMs: number
}

const DEFAULT_TIMEOUT_SECONDS = 60
const DEFAULT_BAND_BPS = 100
const DEFAULT_SLIPPAGE_BPS = 50
const DEFAULT_COST_BPS = 300
const DEFAULT_VALID_SECONDS = 300

/** Reads the settings. Throws a sentence that names the wrong field. */
export function readSettings(config: unknown): Settings {
  const fields = new Fields('config', config ?? {})
  const swaps = fields.list('swaps').map((each, index) => readSwap(`config.swaps[${index}]`, each))
  if (swaps.length === 0) throw new Error('config.swaps: name at least one swap.')
  const ids = new Set(swaps.map(({ id }) => id))
  if (ids.size < swaps.length) throw new Error('config.swaps: each id may appear once.')
  const callers = fields.list('callers').map((each) => {
    if (typeof each !== 'string' || each === '') throw new Error('config.callers: expected ids of API keys.')
    return each
  })
  const settings = {
    swaps,
    callers: new Set(callers),
    timeoutMs: (fields.integer('timeout_seconds', 1, 240) ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
  }
  fields.refuseOthers()
  return settings
}

/** Ids are part of references, of at most 128 characters. */
const ID = /^[A-Za-z0-9._-]{1,100}$/

const AMOUNT = /^(0|[1-9]\d{0,38})$/

function readSwap(path: string, value: unknown): Swap {
  const fields = new Fields(path, value)
  const router = readRouter(`${path}.router`, fields.fields('router'))
  const amount = (name: string) => BigInt(fields.text(name, AMOUNT))
  const bps = (name: string, preset: number) => BigInt(fields.integer(name, 0, 5_000) ?? preset)
  const swap = {
    id: fields.text('id', ID),
    relayerId: fields.text('relayer_id', ID),
    ...readToken(path, fields, router),
    router,
    when: readWhen(`${path}.when`, fields.fields('when')),
    mostAtOnce: amount('most_at_once'),
    mostADay: amount('most_a_day'),
    leastLeft: fields.any('least_left') === undefined ? 0n : amount('least_left'),
    ...readPrice(`${path}.price`, fields.fields('price'), router),
    slippageBps: bps('slippage_bps', DEFAULT_SLIPPAGE_BPS),
    mostCostBps: bps('most_cost_bps', DEFAULT_COST_BPS),
    validSeconds: fields.integer('valid_seconds', 30, 86_400) ?? DEFAULT_VALID_SECONDS,
    lookedAt: fields.optionalText('looked_at'),
  }
  fields.refuseOthers()
  return swap
}

function readRouter(path: string, fields: Fields | undefined): Swap['router'] {
  const type = fields?.word('type', ['uniswap_v3', 'stellar_path', 'jupiter'])
  if (fields === undefined || type === undefined)
    throw new Error(`${path}.type: expected uniswap_v3, stellar_path or jupiter.`)
  const router = routerOf(type, path, fields)
  fields.refuseOthers()
  return router
}

function routerOf(type: Swap['router']['type'], path: string, fields: Fields): Swap['router'] {
  if (type === 'uniswap_v3') return readEvmRouter(path, fields)
  return type === 'jupiter' ? readSolanaRouter(path, fields) : readStellarRouter(fields)
}

function readEvmRouter(path: string, fields: Fields): EvmRouter {
  const chainId = fields.integer('chain_id', 1, Number.MAX_SAFE_INTEGER)
  const poolFee = fields.integer('pool_fee', 1, 999_999)
  if (chainId === undefined || poolFee === undefined)
    throw new Error(`${path}: chain_id and pool_fee are required.`)
  const address = readEvmAddress(path, fields, 'address')
  return {
    type: 'uniswap_v3',
    chainId,
    address,
    poolFee,
    wrappedCoin: readEvmAddress(path, fields, 'wrapped_coin'),
  }
}

const STELLAR_ASSET = /^[A-Za-z0-9]{1,12}:G[A-Z2-7]{55}$/

/** The network has at most so many between the two. */
const MAX_PATH = 5

function readStellarRouter(fields: Fields): StellarRouter {
  const path = fields.list('path').map(String)
  if (path.length > MAX_PATH || !path.every((each) => STELLAR_ASSET.test(each)))
    throw new Error(`config: a path has at most ${MAX_PATH} assets, each as CODE:ISSUER.`)
  return { type: 'stellar_path', network: fields.text('network', NETWORK), path }
}

const NETWORK = /^[ -~]{1,64}$/

/** Programs that do what their caller says: to list one would be to sign whatever the router answers. */
const GENERAL_PROGRAMS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  ...TOKEN_PROGRAMS,
])

function readSolanaRouter(path: string, fields: Fields): SolanaRouter {
  const url = fields.text('url', /^https?:\/\/.{1,1000}$/)
  if (!URL.canParse(url)) throw new Error(`${path}.url: expected a URL.`)
  const programs = fields.list('programs').map(String)
  if (programs.length === 0 || !programs.every((each) => isAddress(each) && !GENERAL_PROGRAMS.has(each)))
    throw new Error(`${path}.programs: expected the addresses of programs that swap.`)
  return { type: 'jupiter', network: fields.text('network', NETWORK), url, programs }
}

/** The smallest unit of all assets of Stellar is 10^-7. */
const STELLAR_DECIMALS = 7

function readToken(path: string, fields: Fields, router: Swap['router']) {
  if (router.type === 'stellar_path')
    return { token: fields.text('token', STELLAR_ASSET), decimals: STELLAR_DECIMALS }
  const decimals = fields.integer('decimals', 0, 36)
  if (decimals === undefined) throw new Error(`${path}.decimals: expected an integer.`)
  const token = router.type === 'jupiter' ? readMint(path, fields) : readEvmAddress(path, fields, 'token')
  if (token === (router.type === 'jupiter' ? WRAPPED_SOL : router.wrappedCoin))
    throw new Error(`${path}.token: the wrapped coin needs no swap.`)
  return { token, decimals }
}

function readMint(path: string, fields: Fields): string {
  const token = fields.text('token', /^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  if (!isAddress(token)) throw new Error(`${path}.token: expected the address of a mint.`)
  return token
}

function readWhen(path: string, fields: Fields | undefined): Swap['when'] {
  const amount = (name: string) =>
    fields?.any(name) === undefined ? undefined : BigInt(fields.text(name, AMOUNT))
  const when = { coinBelow: amount('coin_below'), tokenAbove: amount('token_above') }
  fields?.refuseOthers()
  if (when.coinBelow === undefined && when.tokenAbove === undefined)
    throw new Error(`${path}: needs coin_below or token_above.`)
  return when
}

/**
 * Who tells a price. One liar must not be asked twice: all that a node reads of its chain is told by that
 * node.
 */
const TELLERS = { fixed: 'operator', chainlink: 'node', uniswap_v3: 'node', http: 'web' } as const

function readPrice(path: string, fields: Fields | undefined, router: Swap['router']) {
  const sources = (fields?.list('sources') ?? []).map((each, index) =>
    readSource(`${path}.sources[${index}]`, each, router),
  )
  if (sources.length !== 2 || new Set(sources.map(({ type }) => TELLERS[type])).size !== 2)
    throw new Error(
      `${path}.sources: expected two that different parties tell: you (fixed), a node (chainlink or uniswap_v3), a server (http).`,
    )
  const bandBps = BigInt(fields?.integer('band_bps', 0, 5_000) ?? DEFAULT_BAND_BPS)
  fields?.refuseOthers()
  return { sources, bandBps }
}

function readSource(path: string, value: unknown, router: Swap['router']): SwapSource {
  const fields = new Fields(path, value)
  const types =
    router.type === 'uniswap_v3' ? [...EVM_SOURCE_TYPES, 'http' as const] : (['fixed', 'http'] as const)
  const type = fields.word<SwapSource['type']>('type', types)
  if (type === undefined) throw new Error(`${path}.type: expected ${types.join(' or ')}.`)
  const source = sourceOf(type, path, fields)
  fields.refuseOthers()
  return source
}

function sourceOf(type: SwapSource['type'], path: string, fields: Fields): SwapSource {
  if (type === 'http') return { type, ...readHttpSource(path, fields) }
  if (type === 'fixed') return { type, price: readFixedPrice(path, fields) }
  return readEvmSource(type, path, fields)
}
