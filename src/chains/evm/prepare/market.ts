import { larger, smaller } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import { atHead, HIGHER_OF_TWO, headTolerance, isNear, type Rule } from '../../rpc/agreement.ts'
import { createRecentAnswer } from '../../rpc/balance-reader.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import type { Speed } from '../../speed.ts'
import { EVM_AGREEMENT as AGREED } from '../agreement.ts'
import { readCount, readPrice, readQuantity } from '../read/quantity.ts'
import { type Market, type MarketBlock, type PriceBounds, type Prices, SPEEDS } from './fees.ts'

/**
 * The market reads the tips of this many blocks. More makes the price slow to follow, fewer makes it jump.
 */
const HISTORY_BLOCKS = 4

const LEVELS = ['safeLow', 'average', 'fast', 'fastest'] as const satisfies readonly Speed[]

const CALLS: readonly RpcCall[] = [
  {
    method: 'eth_feeHistory',
    params: [`0x${HISTORY_BLOCKS.toString(16)}`, 'latest', LEVELS.map((l) => SPEEDS[l].rewardPercentile)],
  },
  { method: 'eth_gasPrice', params: [] },
  { method: 'eth_maxPriorityFeePerGas', params: [] },
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
]

interface MarketWatchOptions {
  readonly client: Pick<PooledClient, 'send' | 'sendEverywhere' | 'states'>
  readonly clock: Clock
  /** Expected time between blocks, in ms. */
  readonly blocktimeMs: number
  /** Prices are fresh for this time, in ms: about a block. */
  readonly freshForMs: number
  /** Price limits that endpoints showed recently. Default: none. */
  readonly bounds?: () => PriceBounds
  /** The lowest tip that every pool of the network accepts, in wei per gas. Default 0. */
  readonly leastTip?: bigint | undefined
}

/**
 * Creates a reader of the network's prices, which queries at most once in `freshForMs` for all callers. Every
 * endpoint is asked, and each price is agreed on by itself (`EVM_AGREEMENT`), so that one of several
 * endpoints moves none of them.
 */
export function createMarketWatch(options: MarketWatchOptions): () => Promise<Answer<Market>> {
  const { clock, freshForMs, bounds = () => ({}), leastTip = 0n } = options
  const asked = createRecentAnswer({ ask: () => askMarket(options), clock, freshForMs })
  return async () => {
    const answer = await asked.read()
    if (answer.kind !== 'ok') return answer
    return { kind: 'ok', value: { ...withLeastTip(answer.value, leastTip), ...bounds() } }
  }
}

/** What one endpoint says of the market, and its height. */
interface ToldMarket {
  readonly market: Market
  readonly head: bigint | undefined
}

async function askMarket({
  client,
  blocktimeMs,
}: Pick<MarketWatchOptions, 'client' | 'blocktimeMs'>): Promise<Answer<Market>> {
  const endpoints = client.states().length
  if (endpoints < 2) return readMarket(await client.send(CALLS))
  const countedOf = (answered: readonly (readonly EndpointReply[])[]) =>
    atHead(
      answered.flatMap((replies) => toldBy(replies) ?? []),
      headTolerance(blocktimeMs),
    ).map(({ market }) => market)
  const answered = await client.sendEverywhere(
    CALLS,
    undefined,
    (some) => endpoints > 2 && agree(countedOf(some)),
  )
  const agreed = combine(countedOf(answered))
  // Every endpoint is paused or silent, so the one allowed as a last resort decides.
  return agreed === undefined ? readMarket(await client.send(CALLS)) : { kind: 'ok', value: agreed }
}

function toldBy(replies: readonly EndpointReply[]): ToldMarket | undefined {
  const answer = readMarket(replies.map(({ reply }) => reply))
  if (answer.kind !== 'ok') return undefined
  const { block } = answer.value
  const height = replies[0]?.head
  if (block === undefined || height === undefined)
    return { market: answer.value, head: height ?? block?.number }
  // The height is asked before the block, which can be the next one.
  const number = smaller(block.number, height + 1n)
  return { market: { ...answer.value, block: { ...block, number } }, head: smaller(number, height) }
}

/**
 * Returns true if these markets are two or more, and say the same about everything that a price depends on.
 */
function agree([first, ...others]: readonly Market[]): boolean {
  if (first === undefined || others.length === 0) return false
  const numbersOf = ({ gasPrice, baseFee, tips, blockGasLimit }: Market) => [
    gasPrice,
    baseFee,
    blockGasLimit,
    ...LEVELS.map((level) => tips[level]),
  ]
  const expected = numbersOf(first)
  return others.every((other) =>
    numbersOf(other).every((value, index) => isSameNumber(value, expected[index])),
  )
}

function isSameNumber(one: bigint | undefined, other: bigint | undefined): boolean {
  return one === undefined || other === undefined ? one === other : isNear(one, other)
}

/** Returns the market on which the endpoints agree, field by field; undefined without any. Pure. */
function combine(markets: readonly Market[]): Market | undefined {
  const [first, ...others] = markets
  if (first === undefined || others.length === 0) return first
  const lower = combinePrices(markets, {
    gasPrice: AGREED['gas price'].agreed,
    baseFee: AGREED['base fee'].agreed,
    tip: AGREED['tip of each speed'].agreed,
  })
  const raise = AGREED['prices, for a raise'].agreed
  const upper = combinePrices(markets, { gasPrice: raise, baseFee: raise, tip: raise })
  const mostGas =
    AGREED['block gas limit'].agreed.of(markets.map((market) => market.blockGasLimit)) ?? first.blockGasLimit
  const block = combineBlocks(markets.flatMap((market) => market.block ?? []))
  return { ...lower, upper, blockGasLimit: mostGas, ...(block && { block }) }
}

function combinePrices(
  markets: readonly Market[],
  rules: Readonly<Record<'gasPrice' | 'baseFee' | 'tip', Rule>>,
): Prices {
  const tipOf = (level: Speed) => rules.tip.of(markets.map(({ tips }) => tips[level])) ?? 0n
  return omitUndefined({
    gasPrice: rules.gasPrice.of(markets.map((market) => market.gasPrice)) ?? 0n,
    baseFee: rules.baseFee.of(markets.map((market) => market.baseFee)),
    tips: rising({
      safeLow: tipOf('safeLow'),
      average: tipOf('average'),
      fast: tipOf('fast'),
      fastest: tipOf('fastest'),
    }),
  })
}

/** The endpoints are at the head, so their newest blocks differ by little. */
function combineBlocks(blocks: readonly MarketBlock[]): MarketBlock | undefined {
  const number = HIGHER_OF_TWO.of(blocks.map((block) => block.number))
  if (number === undefined) return undefined
  return omitUndefined({
    number,
    baseFee: AGREED['base fee'].agreed.of(blocks.map((block) => block.baseFee)),
    gasLimit: AGREED['block gas limit'].agreed.of(blocks.map((block) => block.gasLimit)) ?? 0n,
    gasUsed: AGREED['gas used by the newest block'].agreed.of(blocks.map((block) => block.gasUsed)),
    time: blocks.find((block) => block.number === number)?.time,
  })
}

/** Returns the market with no offer below the minimum of the network's pools. */
function withLeastTip(market: Market, leastTip: bigint): Market {
  if (leastTip === 0n) return market
  const lift = ({ gasPrice, baseFee, tips }: Prices): Prices => {
    const lifted = (level: Speed) => larger(tips[level], leastTip)
    return omitUndefined({
      gasPrice: larger(gasPrice, (baseFee ?? 0n) + leastTip),
      baseFee,
      tips: {
        safeLow: lifted('safeLow'),
        average: lifted('average'),
        fast: lifted('fast'),
        fastest: lifted('fastest'),
      },
    })
  }
  return { ...market, ...lift(market), ...(market.upper && { upper: lift(market.upper) }) }
}

/**
 * Reads the replies to `CALLS`. Every source of a price can be absent or 0; without any the market is
 * unknown.
 */
function readMarket(replies: readonly RpcReply[]): Answer<Market> {
  const [feeHistory, gasPriceReply, tipReply, blockReply] = replies
  const gasLimit = readGasLimit(blockReply)
  const { baseFee, rewards } = readHistory(feeHistory)
  const [told, suggested] = [quantity(gasPriceReply), quantity(tipReply)]
  const isUnpriced =
    told === undefined &&
    (baseFee === undefined || (suggested === undefined && rewards.flat().every((tip) => tip < LEAST_TIP)))
  if (isUnpriced || gasLimit === undefined)
    return { kind: 'unknown', detail: `the network's prices are unknown: ${textOf(gasPriceReply)}` }
  const tips = tipsFrom(rewards, { gasPrice: told, baseFee, suggested })
  const gasPrice = told ?? (baseFee ?? 0n) + tips.safeLow
  const block = readBlock(blockReply, gasLimit)
  return {
    kind: 'ok',
    value: omitUndefined({ gasPrice, baseFee, tips, blockGasLimit: gasLimit, block }),
  }
}

interface Suggestions {
  readonly gasPrice: bigint | undefined
  readonly baseFee: bigint | undefined
  /** The tip of `eth_maxPriorityFeePerGas`. */
  readonly suggested: bigint | undefined
}

/**
 * Tips of recent blocks count up to this many times the highest of what the node suggests and what the
 * slowest level pays. Without a limit, one transaction in one block that pays thousands of gwei to be the
 * first sets the price of `fastest`.
 */
const MOST_OVER_SUGGESTED = 10n

/**
 * Returns the tips of each level. Each recent block is one observation: what it was paid, or, if it was paid
 * none, what the node suggests. The middle one counts, so that neither a block that was paid a few wei, nor
 * one that was paid thousands of gwei, sets the price.
 */
function tipsFrom(
  rewards: History['rewards'],
  { gasPrice = 0n, baseFee = 0n, suggested = 0n }: Suggestions,
): Market['tips'] {
  const ownTip = larger(suggested, gasPrice - baseFee)
  const tip = (level: Speed, column: number) => {
    const own = scaled(ownTip, level)
    const paid = rewards.map((row) => row[column] ?? 0n)
    return lowerMiddle(paid.map((one) => (one < LEAST_TIP ? own : one))) ?? own
  }
  const slowest = tip('safeLow', 0)
  const most = MOST_OVER_SUGGESTED * larger(gasPrice, baseFee + larger(suggested, slowest))
  const within = (level: Speed, column: number) => smaller(tip(level, column), most)
  return rising({
    safeLow: smaller(slowest, most),
    average: within('average', 1),
    fast: within('fast', 2),
    fastest: within('fastest', 3),
  })
}

/** Returns the middle one of the tips, the lower one of two. */
function lowerMiddle(tips: readonly bigint[]): bigint | undefined {
  const sorted = tips.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  return sorted[Math.floor((sorted.length - 1) / 2)]
}

/**
 * A lower tip is no price, in wei per gas: blocks contain transactions of their own builders (`IgnorePrice`
 * of geth's `eth/gasprice`).
 */
const LEAST_TIP = 2n

function fieldsOf(reply: RpcReply | undefined): Readonly<Record<string, unknown>> {
  if (reply?.kind !== 'result' || typeof reply.result !== 'object' || reply.result === null) return {}
  return reply.result as Readonly<Record<string, unknown>>
}

function readGasLimit(reply: RpcReply | undefined): bigint | undefined {
  return readQuantity(fieldsOf(reply).gasLimit)
}

function readBlock(reply: RpcReply | undefined, gasLimit: bigint): MarketBlock | undefined {
  const { number, baseFeePerGas, gasUsed, timestamp } = fieldsOf(reply)
  const height = readCount(number)
  if (height === undefined) return undefined
  const seconds = readCount(timestamp)
  return omitUndefined({
    number: height,
    baseFee: readPrice(baseFeePerGas),
    gasLimit,
    gasUsed: readQuantity(gasUsed),
    time: seconds === undefined || seconds > MAX_SECONDS ? undefined : new Date(Number(seconds) * 1_000),
  })
}

/** The last second that a `Date` can express. */
const MAX_SECONDS = 8_640_000_000_000n

interface History {
  readonly baseFee: bigint | undefined
  readonly rewards: readonly (readonly bigint[])[]
}

/** `baseFeePerGas` has one entry more than there are blocks: the last one belongs to the next block. */
function readHistory(reply: RpcReply | undefined): History {
  const { baseFeePerGas, reward } = fieldsOf(reply)
  return {
    baseFee: Array.isArray(baseFeePerGas) ? readPrice(baseFeePerGas.at(-1)) : undefined,
    rewards: Array.isArray(reward) ? reward.map(readRow) : [],
  }
}

function readRow(row: unknown): bigint[] {
  return Array.isArray(row) ? row.map((value) => readPrice(value) ?? 0n) : []
}

/**
 * A faster level never pays less than a slower one. The columns alone do not guarantee it, because the blocks
 * that were paid nothing say the same for each.
 */
function rising(tips: Market['tips']): Market['tips'] {
  const average = larger(tips.average, tips.safeLow)
  const fast = larger(tips.fast, average)
  return { safeLow: tips.safeLow, average, fast, fastest: larger(tips.fastest, fast) }
}

function scaled(tip: bigint, level: Speed): bigint {
  return (tip * BigInt(Math.round(SPEEDS[level].priceMultiplier * 100))) / 100n
}

function quantity(reply: RpcReply | undefined): bigint | undefined {
  return reply?.kind === 'result' ? readPrice(reply.result) : undefined
}

function textOf(reply: RpcReply | undefined): string {
  if (reply?.kind === 'error') return reply.message
  return reply?.kind === 'unknown' ? reply.detail : 'no reply'
}
