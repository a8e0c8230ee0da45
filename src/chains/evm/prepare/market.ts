import { larger, smaller } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import { createRecentAnswer } from '../../rpc/balance-reader.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import type { Speed } from '../../speed.ts'
import { askEverywhere } from '../inclusion/everywhere.ts'
import { readCount, readPrice, readQuantity } from '../read/quantity.ts'
import { type Market, type MarketBlock, type PriceBounds, SPEEDS } from './fees.ts'

/** The market reads the tips of this many blocks. More makes the price slow to follow, fewer makes it jump. */
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
  /** Prices are fresh for this time, in ms: about a block. */
  readonly freshForMs: number
  /** Price limits that endpoints showed recently. Default: none. */
  readonly bounds?: () => PriceBounds
}

/**
 * Creates a reader of the network's prices, which queries at most once in `freshForMs` for all callers. If the network has several
 * endpoints, prices that have risen are compared with those of the others, so that one of them alone cannot raise what is paid.
 */
export function createMarketWatch({
  client,
  clock,
  freshForMs,
  bounds = () => ({}),
}: MarketWatchOptions): () => Promise<Answer<Market>> {
  const asked = createRecentAnswer({ ask: createComparison(client), clock, freshForMs })
  return async () => {
    const answer = await asked.read()
    return answer.kind === 'ok' ? { kind: 'ok', value: { ...answer.value, ...bounds() } } : answer
  }
}

/**
 * Prices up to this many times the last ones that two endpoints agreed on are believed from one endpoint alone. With a higher value, a
 * lying endpoint costs more; with a lower one, every movement of the market queries all endpoints.
 */
const BELIEVED_ALONE = 2n

/**
 * Creates a market query that one lying endpoint cannot decide: if the prices rise, every endpoint is queried, and the second highest reply
 * counts. With one endpoint, or if only one answers, there is no comparison: then only `gas_price_cap` bounds it.
 */
function createComparison(client: MarketWatchOptions['client']): () => Promise<Answer<Market>> {
  let agreed: bigint | undefined
  return async () => {
    if (client.states().length < 2) return readMarket(await client.send(CALLS))
    const answer: Answer<Market> = agreed === undefined ? UNKNOWN : readMarket(await client.send(CALLS))
    if (agreed !== undefined && answer.kind === 'ok' && scaleOf(answer.value) <= agreed * BELIEVED_ALONE) {
      agreed = smaller(agreed, scaleOf(answer.value))
      return answer
    }
    const { endpoints } = await askEverywhere(client, CALLS)
    const markets = endpoints.flatMap(({ replies }) => {
      const read = readMarket(replies)
      return read.kind === 'ok' ? [read.value] : []
    })
    const [highest, second] = markets.toSorted((one, other) => (scaleOf(one) > scaleOf(other) ? -1 : 1))
    if (second !== undefined) agreed = scaleOf(second)
    const counted = second ?? highest
    return counted === undefined ? readMarket(endpoints[0]?.replies ?? []) : { kind: 'ok', value: counted }
  }
}

const UNKNOWN: Answer<never> = { kind: 'unknown', detail: 'not asked yet' }

/** Returns one price that represents the whole market, in wei per gas. Tips of `fastest` jump too much from block to block for it. */
function scaleOf({ gasPrice, baseFee = 0n, tips }: Market): bigint {
  return larger(gasPrice, baseFee + tips.fast)
}

/** Reads the replies to `CALLS`. Every source of a price can be absent or 0; without any the market is unknown. */
function readMarket(replies: readonly RpcReply[]): Answer<Market> {
  const [feeHistory, gasPriceReply, tipReply, blockReply] = replies
  const gasLimit = readGasLimit(blockReply)
  const { baseFee, rewards } = readHistory(feeHistory)
  const [told, suggested] = [quantity(gasPriceReply), quantity(tipReply)]
  const paid = LEVELS.map((_, column) => meanOfPaid(rewards, column))
  const isUnpriced =
    told === undefined &&
    (baseFee === undefined || (suggested === undefined && paid.every((tip) => tip === undefined)))
  if (isUnpriced || gasLimit === undefined)
    return { kind: 'unknown', detail: `the network's prices are unknown: ${textOf(gasPriceReply)}` }
  const tips = tipsFrom(paid, { gasPrice: told, baseFee, suggested })
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
 * Tips of recent blocks count up to this many times the highest of what the node suggests and what the slowest level pays. Without a limit, one
 * transaction in one block that pays thousands of gwei to be the first sets the price of `fastest`.
 */
const MOST_OVER_SUGGESTED = 10n

/**
 * Returns the tips of each level, from those that recent blocks were paid. A history without any says nothing about the price: the node's own
 * suggestions count then, `eth_gasPrice` among them, which is what it takes for enough.
 */
function tipsFrom(
  paid: readonly (bigint | undefined)[],
  { gasPrice = 0n, baseFee = 0n, suggested = 0n }: Suggestions,
): Market['tips'] {
  const ownTip = larger(suggested, gasPrice - baseFee)
  const most = MOST_OVER_SUGGESTED * larger(gasPrice, baseFee + larger(suggested, paid[0] ?? 0n))
  const tip = (level: Speed, column: number) => {
    const mean = paid[column]
    return mean === undefined ? scaled(ownTip, level) : smaller(mean, most)
  }
  return rising({
    safeLow: tip('safeLow', 0),
    average: tip('average', 1),
    fast: tip('fast', 2),
    fastest: tip('fastest', 3),
  })
}

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

/** Returns the mean of one percentile over the blocks that had tips; empty blocks say nothing about the price. */
function meanOfPaid(rewards: History['rewards'], column: number): bigint | undefined {
  const paid = rewards.map((row) => row[column] ?? 0n).filter((tip) => tip > 0n)
  return paid.length === 0 ? undefined : paid.reduce((sum, tip) => sum + tip) / BigInt(paid.length)
}

/**
 * A faster level never pays less than a slower one. The columns alone do not guarantee it, because each is a mean over the blocks that paid
 * at its own percentile.
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
