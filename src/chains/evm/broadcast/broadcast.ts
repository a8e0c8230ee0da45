import { parseTransaction } from 'viem/utils'
import type { Clock } from '../../../lib/time.ts'
import type { BroadcastResult } from '../../answer.ts'
import { markUnanswered, type UnknownTexts } from '../../rpc/refusals.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import type { Fees } from '../content.ts'
import { askEverywhere } from '../inclusion/everywhere.ts'
import { ceilingOf, describeFees } from '../prepare/fees.ts'
import type { GasLimitsMemory, PriceBoundsMemory } from '../prepare/node-limits.ts'
import { HEIGHT, readCount } from '../read/quantity.ts'
import { readBroadcast, unknownTextOf } from './failures.ts'
import type { PoolQueueWatch } from './pool-queue.ts'
import { evaluateOpinions, type Opinion, type RefusalMemory } from './second-opinion.ts'

interface BroadcastContext {
  readonly client: PooledClient
  readonly clock: Pick<Clock, 'monotonic'>
  readonly bounds: PriceBoundsMemory
  readonly gasLimits: GasLimitsMemory
  readonly refusals: RefusalMemory
  readonly unknownTexts: UnknownTexts
  /** Absent on networks whose nodes have no pool. */
  readonly queuedInPool?: PoolQueueWatch | undefined
}

/**
 * Replies that depend on the endpoint: on its pool, its price and gas limits, its wording, and the rules of
 * its newest block.
 */
const OWN_WORD: readonly BroadcastResult['kind'][] = [
  'underpriced',
  'refused',
  'gas_limit',
  'too_cheap',
  'too_dear',
  'unclear',
]

/**
 * Sends signed transactions to one endpoint in this order and returns the results in the same order. A
 * refusal is checked with every other endpoint before it counts: sending the same bytes twice is harmless,
 * and the settings or the old block of one node decide nothing. After an endpoint left them unanswered, only
 * an acceptance settles them.
 */
export async function broadcastAll(
  context: BroadcastContext,
  raws: readonly Uint8Array[],
): Promise<BroadcastResult[]> {
  const calls = raws.map(sendCall)
  const replies = await context.client.broadcast(calls)
  reportTexts(
    context.unknownTexts,
    replies.map(({ reply }) => reply),
  )
  const read = replies.map(({ reply }) => readBroadcast(reply))
  const results = await Promise.all(
    read.map(async (result, index): Promise<BroadcastResult> => {
      const raw = raws[index]
      // Only the first one can have the next nonce of its account.
      if (raw === undefined || index > 0 || result.kind !== 'accepted' || !result.known) return result
      return (await context.queuedInPool?.isQueued(raw)) ? { ...result, queuedInPool: true } : result
    }),
  )
  const doubtful = [...raws.keys()].filter((index) => OWN_WORD.includes(results[index]?.kind ?? 'unknown'))
  if (doubtful.length === 0) return results
  const settled = await askOthers(
    context,
    doubtful.flatMap((index) => raws[index] ?? []),
  )
  return results.map((result, index) =>
    markUnanswered(settledOr(result, settled[doubtful.indexOf(index)]), replies[index]?.unanswered),
  )
}

/** An endpoint whose refusal looks like a failure is then paused, so that there may be no endpoint left. */
function settledOr(first: BroadcastResult, settled: Settled | undefined): BroadcastResult {
  if (settled === undefined) return first
  const { result, isAnswered, isAlone } = settled
  return first.kind === 'unclear' && !isAnswered ? markUnanswered(first, !isAlone) : result
}

interface Settled {
  readonly result: BroadcastResult
  /** An endpoint has answered. */
  readonly isAnswered: boolean
  /** The network has no other endpoint. */
  readonly isAlone: boolean
}

/** Reports the replies that the service cannot read. */
export function reportTexts(unknownTexts: UnknownTexts, replies: readonly RpcReply[]): void {
  for (const reply of replies) {
    const text = unknownTextOf(reply)
    if (text !== undefined) unknownTexts.saw('broadcast', text)
  }
}

/** Every broadcast comes by here, and the loop of viem leaves a text for each byte as garbage. */
function toHex(raw: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(raw).toString('hex')}`
}

function sendCall(raw: Uint8Array): RpcCall {
  return { method: 'eth_sendRawTransaction', params: [toHex(raw)] }
}

async function askOthers(
  { client, clock, bounds, gasLimits, refusals }: BroadcastContext,
  raws: readonly Uint8Array[],
): Promise<Settled[]> {
  const { endpoints } = await askEverywhere(client, [HEIGHT.call, ...raws.map(sendCall)])
  return raws.map((raw, index) => {
    const opinions = endpoints.flatMap(({ behind, replies: [height, ...replies] }): Opinion[] => {
      const reply = replies[index]
      const head = height?.kind === 'result' ? readCount(height.result) : undefined
      return reply === undefined ? [] : [{ result: readBroadcast(reply), head, behind }]
    })
    const bytes = toHex(raw)
    const now = clock.monotonic()
    const result = evaluateOpinions(opinions, {
      first: refusals.firstRefusal(bytes),
      now,
      endpoints: client.states().length,
    })
    refusals.remember(bytes, opinions, now)
    const sent = isPriceOrGas(result) ? read(raw) : undefined
    if (sent !== undefined && isPriceOrGas(result)) {
      const words = opinions.flatMap((one) =>
        !one.behind && one.result.kind === result.kind && isPriceOrGas(one.result) ? [one.result.detail] : [],
      )
      learn(
        { bounds, gasLimits },
        { sent, kind: result.kind, words: words.length > 0 ? words : [result.detail] },
      )
    }
    const isAnswered = opinions.some((one) => one.result.kind !== 'unknown')
    return { result: withOffer(result, sent), isAnswered, isAlone: endpoints.length === 1 }
  })
}

type PriceOrGas = Extract<BroadcastResult, { readonly kind: 'too_cheap' | 'too_dear' | 'gas_limit' }>

function isPriceOrGas(result: BroadcastResult): result is PriceOrGas {
  const { kind } = result
  return kind === 'too_cheap' || kind === 'too_dear' || kind === 'gas_limit'
}

interface Refused {
  readonly sent: Sent
  readonly kind: PriceOrGas['kind']
  /** The sentence of each endpoint that refused for this reason. */
  readonly words: readonly string[]
}

/** Remembers the prices and the limits of gas that refusals name. */
function learn(
  { bounds, gasLimits }: Pick<BroadcastContext, 'bounds' | 'gasLimits'>,
  { sent, kind, words }: Refused,
): void {
  if (kind === 'too_cheap') bounds.sawTooCheap(sent.fees, words)
  else if (kind === 'too_dear') bounds.sawTooDear(sent.gas * ceilingOf(sent.fees), words)
  else for (const detail of words.slice(0, 1)) gasLimits.sawRefusal(sent, detail)
}

/** Adds the offered price to a message about the price: most nodes name at most their own. */
function withOffer(result: BroadcastResult, sent: Sent | undefined): BroadcastResult {
  if (sent === undefined || result.kind !== 'too_cheap') return result
  return { ...result, detail: `${result.detail}; it offers ${describeFees(sent.fees)}` }
}

interface Sent {
  readonly to?: string
  readonly value: bigint
  readonly data: `0x${string}`
  readonly gas: bigint
  readonly fees: Fees
}

/** Reads a signed transaction; undefined for bytes that the service did not sign. */
function read(raw: Uint8Array): Sent | undefined {
  try {
    // viem omits fields that are zero.
    const parsed = parseTransaction(toHex(raw))
    const { type, to, value = 0n, data = '0x', gas = 0n } = parsed
    const { gasPrice = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parsed
    const content = { ...(to && { to }), value, data, gas }
    if (type === 'legacy' || type === 'eip2930') return { ...content, fees: { kind: 'legacy', gasPrice } }
    return { ...content, fees: { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas } }
  } catch {
    return undefined // viem throws for bytes that are no transaction.
  }
}
