import { larger } from '../../bigints.ts'
import type { Clock } from '../../clock.ts'
import type { Answer } from '../answer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { MIN_FEE_PER_OPERATION } from './fees.ts'
import { readInteger } from './integer.ts'
import { fieldsOf } from './replies.ts'

/** What to bid for inclusion now, in stroops for each operation. Smart contracts have a market of their own (CAP-46-07). */
export interface Market {
  readonly classic: bigint
  readonly soroban: bigint
}

/**
 * The percentile of the fees that recent ledgers charged. In a full ledger all pay what the cheapest one in it bid, so nearly
 * everybody's fee is that of the fullest ledgers.
 */
const PERCENTILE = 'p90'

/**
 * As soon as ledgers are full, the price of the next one is unknown: twice the last price is mostly enough for the two minutes
 * that a signed version lives. What is not needed is not charged, and a replacement needs ten times the bid.
 */
const SURGE_HEADROOM = 2n

interface MarketWatchOptions {
  readonly client: PooledClient
  readonly clock: Clock
  /** How long prices are good for, in ms: about a ledger. */
  readonly freshForMs: number
}

/** Answers with the network's prices, asked at most once in `freshForMs` however many callers there are. */
export function createMarketWatch({
  client,
  clock,
  freshForMs,
}: MarketWatchOptions): () => Promise<Answer<Market>> {
  let asked: { at: number; answer: Promise<Answer<Market>> } | undefined
  return async () => {
    const now = clock.now()
    if (!asked || now - asked.at >= freshForMs) asked = { at: now, answer: askMarket(client) }
    const answer = await asked.answer
    if (answer.kind !== 'ok') asked = undefined
    return answer
  }
}

async function askMarket(client: PooledClient): Promise<Answer<Market>> {
  const fields = fieldsOf(await client.call('getFeeStats', {}))
  if (fields.kind !== 'ok') return fields
  const classic = readPrice(fields.value.inclusionFee)
  const soroban = readPrice(fields.value.sorobanInclusionFee)
  if (classic === undefined || soroban === undefined) {
    return { kind: 'unknown', detail: "the network's fees are not known: the endpoint told none" }
  }
  return { kind: 'ok', value: { classic: bidFor(classic), soroban: bidFor(soroban) } }
}

/** 0 where recent ledgers held none of the kind. */
function readPrice(distribution: unknown): bigint | undefined {
  if (typeof distribution !== 'object' || distribution === null) return undefined
  return readInteger((distribution as Record<string, unknown>)[PERCENTILE])
}

function bidFor(charged: bigint): bigint {
  return charged > MIN_FEE_PER_OPERATION ? charged * SURGE_HEADROOM : larger(charged, MIN_FEE_PER_OPERATION)
}
