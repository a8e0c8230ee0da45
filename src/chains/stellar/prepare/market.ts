import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Answer } from '../../answer.ts'
import { createRecentAnswer } from '../../recent-answer.ts'
import type { PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { NEWEST } from '../read/head.ts'
import { fieldsOf, readInteger } from '../read/replies.ts'
import { MIN_FEE_PER_OPERATION } from './fees.ts'

/** The prices for inclusion, in stroops for each operation. Smart contracts have a market of their own (CAP-46-07). */
export interface Market {
  readonly classic: bigint
  readonly soroban: bigint
  /** The close time of the newest ledger, in Unix seconds. Transactions expire by this clock and not by ours. */
  readonly closeTime: bigint
}

/**
 * The percentile of the fees that recent ledgers charged. In a full ledger all pay the price of the cheapest one in it, so nearly
 * everybody's fee is that of the fullest ledgers.
 */
const PERCENTILE = 'p90'

/**
 * As soon as ledgers are full, the price of the next one is unknown: twice the last price is mostly enough for the two minutes of a signed
 * version. The network does not charge the part that is not needed, and a replacement needs ten times the bid.
 */
const SURGE_HEADROOM = 2n

const FEE_STATS: RpcCall = { method: 'getFeeStats', params: {} }

const UNTOLD = {
  kind: 'unknown',
  detail: "the network's fees and time are not known: the endpoint did not report them",
} as const

interface MarketWatchOptions {
  readonly client: PooledClient
  readonly clock: Clock
  /** Prices are fresh for this time while no newer ledger is known, in ms. */
  readonly freshForMs: number
}

export interface MarketWatch {
  /** Reads the network's prices once for each ledger, however many callers there are. */
  readonly market: () => Promise<Answer<Market>>
  /** Notes that a ledger closed at this time, in Unix seconds. */
  readonly sawLedger: (closeTime: bigint) => void
  /** Notes that a node refused a bid and named the price that it would accept, in stroops for each operation. */
  readonly sawMinimum: (price: bigint, kind: 'classic' | 'soroban') => void
}

/**
 * A price that a node demanded holds for this time, in ms: some ledgers, in which a full queue empties. The statistics contain only the
 * fees of ledgers, and nothing about a queue in front of them.
 */
const MINIMUM_HOLDS_MS = 20_000

/** Creates a reader of the prices of the newest ledger. */
export function createMarketWatch({ client, clock, freshForMs }: MarketWatchOptions): MarketWatch {
  const asked = createRecentAnswer({ ask: () => askMarket(client), clock, freshForMs })
  let newest = 0n
  const minimum = { classic: { price: 0n, until: 0 }, soroban: { price: 0n, until: 0 } }

  const atLeast = (kind: 'classic' | 'soroban', price: bigint) =>
    clock.monotonic() < minimum[kind].until ? larger(price, minimum[kind].price) : price

  async function market(): Promise<Answer<Market>> {
    const answer = await asked.read()
    if (answer.kind !== 'ok') return answer
    const { classic, soroban, closeTime } = answer.value
    newest = larger(newest, closeTime)
    const prices = { classic: atLeast('classic', classic), soroban: atLeast('soroban', soroban) }
    return { kind: 'ok', value: { ...prices, closeTime } }
  }

  return {
    market,
    sawLedger: (closeTime) => {
      if (closeTime > newest) asked.forget()
      newest = larger(newest, closeTime)
    },
    sawMinimum: (price, kind) => {
      minimum[kind] = { price, until: clock.monotonic() + MINIMUM_HOLDS_MS }
    },
  }
}

async function askMarket(client: PooledClient): Promise<Answer<Market>> {
  const [fees, newest] = (await client.sendAsOf([FEE_STATS, NEWEST])).map(({ reply }) => fieldsOf(reply))
  if (fees?.kind !== 'ok') return fees ?? UNTOLD
  if (newest?.kind !== 'ok') return newest ?? UNTOLD
  const classic = readPrice(fees.value.inclusionFee)
  const soroban = readPrice(fees.value.sorobanInclusionFee)
  const closeTime = readInteger(newest.value.latestLedgerCloseTime)
  if (classic === undefined || soroban === undefined || closeTime === undefined) return UNTOLD
  return { kind: 'ok', value: { classic: bidFor(classic), soroban: bidFor(soroban), closeTime } }
}

/** Returns 0 where recent ledgers held no transaction of the kind. */
function readPrice(distribution: unknown): bigint | undefined {
  if (typeof distribution !== 'object' || distribution === null) return undefined
  return readInteger((distribution as Record<string, unknown>)[PERCENTILE])
}

function bidFor(charged: bigint): bigint {
  return charged > MIN_FEE_PER_OPERATION ? charged * SURGE_HEADROOM : larger(charged, MIN_FEE_PER_OPERATION)
}
