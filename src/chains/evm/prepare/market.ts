import type { Clock } from '../../../lib/time/clock.ts'
import type { Answer } from '../../answer.ts'
import { createRecentAnswer } from '../../recent-answer.ts'
import type { RpcCall, RpcClient, RpcReply } from '../../rpc/rpc.ts'
import type { Speed } from '../../speed.ts'
import { readQuantity } from '../quantity.ts'
import { SPEEDS } from '../speed.ts'
import type { Market, PriceBounds } from './fees.ts'

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
  readonly client: RpcClient
  readonly clock: Clock
  /** Prices are fresh for this time, in ms: about a block. */
  readonly freshForMs: number
  /** Limits of price that endpoints showed lately. Default: none. */
  readonly bounds?: () => PriceBounds
}

/** Creates a reader of the network's prices, which asks at most once in `freshForMs` for all callers. */
export function createMarketWatch({
  client,
  clock,
  freshForMs,
  bounds = () => ({}),
}: MarketWatchOptions): () => Promise<Answer<Market>> {
  const asked = createRecentAnswer({ ask: () => askMarket(client), clock, freshForMs })
  return async () => {
    const answer = await asked.read()
    return answer.kind === 'ok' ? { kind: 'ok', value: { ...answer.value, ...bounds() } } : answer
  }
}

async function askMarket(client: RpcClient): Promise<Answer<Market>> {
  const [feeHistory, gasPriceReply, tipReply, block] = await client.send(CALLS)
  const gasPrice = quantity(gasPriceReply)
  const blockGasLimit = readGasLimit(block)
  if (gasPrice === undefined || blockGasLimit === undefined) {
    return { kind: 'unknown', detail: `the network's prices are not known: ${textOf(gasPriceReply)}` }
  }
  const history = readHistory(feeHistory)
  const suggested = quantity(tipReply) ?? 0n
  const tip = (level: Speed, column: number) =>
    meanOfPaid(history?.rewards ?? [], column) ?? scaled(suggested, level)
  const tips = rising({
    safeLow: tip('safeLow', 0),
    average: tip('average', 1),
    fast: tip('fast', 2),
    fastest: tip('fastest', 3),
  })
  const market = { gasPrice, tips, blockGasLimit }
  return {
    kind: 'ok',
    value: history?.baseFee === undefined ? market : { ...market, baseFee: history.baseFee },
  }
}

function readGasLimit(reply: RpcReply | undefined): bigint | undefined {
  if (reply?.kind !== 'result' || typeof reply.result !== 'object' || reply.result === null) return undefined
  return readQuantity((reply.result as { gasLimit?: unknown }).gasLimit)
}

interface History {
  readonly baseFee: bigint | undefined
  readonly rewards: readonly (readonly bigint[])[]
}

/** `baseFeePerGas` has one entry more than there are blocks: the last one belongs to the next block. */
function readHistory(reply: RpcReply | undefined): History | undefined {
  if (reply?.kind !== 'result' || typeof reply.result !== 'object' || reply.result === null) return undefined
  const { baseFeePerGas, reward } = reply.result as { baseFeePerGas?: unknown; reward?: unknown }
  return {
    baseFee: Array.isArray(baseFeePerGas) ? readQuantity(baseFeePerGas.at(-1)) : undefined,
    rewards: Array.isArray(reward) ? reward.map(readRow) : [],
  }
}

function readRow(row: unknown): bigint[] {
  return Array.isArray(row) ? row.map((value) => readQuantity(value) ?? 0n) : []
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
  const larger = (a: bigint, b: bigint) => (a > b ? a : b)
  const average = larger(tips.average, tips.safeLow)
  const fast = larger(tips.fast, average)
  return { safeLow: tips.safeLow, average, fast, fastest: larger(tips.fastest, fast) }
}

function scaled(tip: bigint, level: Speed): bigint {
  return (tip * BigInt(Math.round(SPEEDS[level].priceMultiplier * 100))) / 100n
}

function quantity(reply: RpcReply | undefined): bigint | undefined {
  return reply?.kind === 'result' ? readQuantity(reply.result) : undefined
}

function textOf(reply: RpcReply | undefined): string {
  if (reply?.kind === 'error') return reply.message
  return reply?.kind === 'unknown' ? reply.detail : 'no reply'
}
