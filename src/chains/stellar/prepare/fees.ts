import { larger, smaller } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer, Refusal } from '../../answer.ts'
import { askStatements, isNear, secondHighest } from '../../rpc/agreement.ts'
import { createRecentAnswer } from '../../rpc/balance-reader.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import type { StellarDraft, StellarRequest, UnixSeconds } from '../content.ts'
import { fieldsOf, NEWEST, readInteger, readUnixSeconds, TOLERATED_LEDGERS } from '../read/replies.ts'
import type { StellarAccount, StellarAttempt } from '../types.ts'

/** The default of `max_fee`, in stroops: of a request, and of the policy. */
const DEFAULT_MAX_FEE = 1_000_000n

/**
 * The base fee of every public network, in stroops for each operation (`baseFee` of the ledger header). The
 * validators could vote for another one; nodes accept nothing below it.
 */
export const MIN_FEE_PER_OPERATION = 100n

/**
 * A queued transaction is replaced only by a fee bump with the same sequence number whose fee for each
 * operation is at least this many times higher (stellar-core `TransactionQueue::FEE_MULTIPLIER`).
 */
const REPLACEMENT_FACTOR = 10n

/** The fee of a transaction outside a fee bump is a `uint32` of XDR. */
export const MAX_PLAIN_FEE = 2n ** 32n - 1n

/** The parts of a fee. */
type Fee = Pick<StellarDraft, 'feePerOperation' | 'operationCount' | 'resourceFee'>

/** Returns the fee in the envelope, in stroops. A fee bump counts as one more operation (CAP-15). */
export function totalFee({ feePerOperation, operationCount, resourceFee }: Fee, bumped: boolean): bigint {
  return feePerOperation * BigInt(operationCount + (bumped ? 1 : 0)) + resourceFee
}

/**
 * Returns the highest amount that the draft can take from the relayer's account, in stroops. A fee bump may
 * follow.
 */
export function costOf(draft: StellarDraft): bigint {
  return totalFee(draft, true) + draft.spends
}

/** Returns the most that any transaction of the relayer may cost, in stroops. */
export function feeCap({ maxFee = DEFAULT_MAX_FEE }: StellarAccount['policies']): bigint {
  return maxFee
}

/** Returns the highest cost of the request, in stroops. */
export function budgetOf({ maxFee }: Pick<StellarRequest, 'maxFee'>, { policies }: StellarAccount): bigint {
  return maxFee ?? smaller(DEFAULT_MAX_FEE, feeCap(policies))
}

/** The demands on a bid, and its limits. */
export interface BidOptions {
  /** The price that the network accepts now, in stroops for each operation. */
  readonly market: bigint
  /** No node accepts a lower price. */
  readonly least: bigint
  readonly operationCount: number
  readonly resourceFee: bigint
  readonly maxFee: bigint
}

/** A bid in stroops for each operation; or the necessary `max_fee`. */
export type Bid =
  | { readonly kind: 'bid'; readonly feePerOperation: bigint; readonly wanted: bigint }
  | { readonly kind: 'short'; readonly needed: bigint }

/**
 * Decides the bid. It always leaves money for a fee bump, which a replacement and a channel account need. The
 * network charges the price of the ledger, which is mostly less than the bid.
 */
export function chooseBid({ market, least, operationCount, resourceFee, maxFee }: BidOptions): Bid {
  const count = BigInt(operationCount + 1)
  const affordable = affordablePrice({ operationCount, resourceFee, maxFee })
  if (affordable < least) return { kind: 'short', needed: least * count + resourceFee }
  const wanted = larger(market, least)
  const payable = smaller(affordable, (MAX_PLAIN_FEE - resourceFee) / count)
  return { kind: 'bid', feePerOperation: smaller(wanted, larger(payable, least)), wanted }
}

/**
 * Returns the highest bid that `max_fee` allows, in stroops for each operation, with money left for a fee
 * bump.
 */
export function affordablePrice({
  operationCount,
  resourceFee,
  maxFee,
}: Pick<BidOptions, 'operationCount' | 'resourceFee' | 'maxFee'>): bigint {
  return (maxFee - resourceFee) / BigInt(operationCount + 1)
}

/**
 * Returns the lowest bid that a node accepts in place of attempts in its queue, in stroops for each
 * operation; undefined if there are none.
 */
export function replacementFloor(attempts: readonly StellarAttempt[]): bigint | undefined {
  const open = openOf(attempts)
  if (open.length === 0) return undefined
  return REPLACEMENT_FACTOR * open.map(({ draft }) => draft.feePerOperation).reduce(larger)
}

/** Returns the attempts that a node may still hold. */
function openOf(attempts: readonly StellarAttempt[]): readonly StellarAttempt[] {
  return attempts.filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
}

/** Refuses a budget below the lowest fee of the network. */
export function aboveBudget(needed: bigint, maxFee: bigint): Refusal {
  return {
    code: 'fee_above_cap',
    detail: `max_fee: at least ${needed} stroops are expected, the price of the network and of a fee bump; ${maxFee} are allowed.`,
  }
}

/** Refuses a budget below the fee of a replacement. */
export function underpriced(needed: bigint, maxFee: bigint): Refusal {
  return {
    code: 'replacement_underpriced',
    detail: `max_fee: at least ${needed} stroops are expected, ${REPLACEMENT_FACTOR} times the rate of the attempt that is in the queue; ${maxFee} are allowed.`,
  }
}

/**
 * The prices for inclusion, in stroops for each operation. Smart contracts have a separate market
 * (CAP-46-07).
 */
export interface Market {
  readonly classic: bigint
  readonly soroban: bigint
  /**
   * The close time of the newest ledger, in Unix seconds. Transactions expire by this clock and not by ours.
   */
  readonly closeTime: UnixSeconds
}

/**
 * The percentile of the fees that recent ledgers charged. In a full ledger all pay the price of the cheapest
 * one in it, so nearly everyone's fee is that of the fullest ledgers.
 */
const PERCENTILE = 'p90'

/**
 * As soon as ledgers are full, the price of the next one is unknown: twice the last price is mostly enough
 * for the two minutes of a signed version. The network does not charge the part that is not needed, and a
 * replacement needs ten times the bid.
 */
const SURGE_HEADROOM = 2n

const FEE_STATS: RpcCall = { method: 'getFeeStats', params: {} }

const UNTOLD = {
  kind: 'unknown',
  detail: "the network's fees and time are unknown: the endpoint did not report them",
} as const

interface MarketWatchOptions {
  readonly client: PooledClient
  readonly clock: Clock
  /** Prices are fresh for this time while no newer ledger is known, in ms. */
  readonly freshForMs: number
}

export interface MarketWatch {
  /** Reads the network's prices once per ledger for all callers. */
  readonly market: () => Promise<Answer<Market>>
  /** Notes that a ledger closed at this time, in Unix seconds. */
  readonly sawLedger: (closeTime: UnixSeconds) => void
  /**
   * Notes that a node refused a bid and named the price that it would accept, in stroops for each operation.
   */
  readonly sawMinimum: (price: bigint, kind: 'classic' | 'soroban') => void
}

/**
 * A price that a node demanded holds for this time, in ms: some ledgers, in which a full queue empties. The
 * statistics contain only the fees of ledgers, and nothing about a queue in front of them.
 */
const MINIMUM_HOLDS_MS = 20_000

/** Creates a reader of the prices of the newest ledger. */
export function createMarketWatch({ client, clock, freshForMs }: MarketWatchOptions): MarketWatch {
  const asked = createRecentAnswer({ ask: () => askMarket(client, clock.now), clock, freshForMs })
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

/**
 * Asks every endpoint. Each price is decided by itself: of three of which one is wrong, the other two decide
 * it, and of two that differ the cheaper one counts. The time is that of a second endpoint too; of two that
 * differ much, the one nearer to our clock.
 */
async function askMarket(client: PooledClient, now: () => number): Promise<Answer<Market>> {
  const told = await askStatements(client, {
    calls: [FEE_STATS, NEWEST],
    read: ([fees, newest]) => readMarket(fees?.reply, newest?.reply),
    isSame: (one, other) =>
      isNear(one.classic, other.classic) &&
      isNear(one.soroban, other.soroban) &&
      isNearTime(one.closeTime, other.closeTime),
    toleratedBlocks: TOLERATED_LEDGERS,
  })
  if (told.kind !== 'ok') return told
  const of = <F extends keyof Market>(field: F) => told.value.map(({ value }) => value[field])
  const [classic, soroban] = [secondHighest(of('classic')), secondHighest(of('soroban'))]
  const closeTime = timeOf(of('closeTime'), BigInt(Math.floor(now() / 1_000)) as UnixSeconds)
  if (classic === undefined || soroban === undefined || closeTime === undefined) return UNTOLD
  return { kind: 'ok', value: { classic, soroban, closeTime } }
}

/** Close times of ledgers that are at most this many seconds apart are about the same: a few ledgers. */
const SAME_SECONDS = 30n

function isNearTime(one: UnixSeconds, other: UnixSeconds): boolean {
  return distance(one, other) <= SAME_SECONDS
}

function distance(one: UnixSeconds, other: UnixSeconds): bigint {
  return one > other ? one - other : other - one
}

/**
 * Returns the agreed close time; of two that differ much, the one nearer to our clock, which is a third
 * witness here.
 */
function timeOf(times: readonly UnixSeconds[], now: UnixSeconds): UnixSeconds | undefined {
  const [one, other] = times
  if (times.length !== 2 || one === undefined || other === undefined || isNearTime(one, other))
    return secondHighest(times)
  return distance(one, now) < distance(other, now) ? one : other
}

function readMarket(feesReply: RpcReply | undefined, newestReply: RpcReply | undefined): Answer<Market> {
  const [fees, newest] = [fieldsOf(feesReply), fieldsOf(newestReply)]
  if (fees.kind !== 'ok') return fees
  if (newest.kind !== 'ok') return newest
  const classic = readPrice(fees.value.inclusionFee)
  const soroban = readPrice(fees.value.sorobanInclusionFee)
  const closeTime = readUnixSeconds(newest.value.latestLedgerCloseTime)
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
