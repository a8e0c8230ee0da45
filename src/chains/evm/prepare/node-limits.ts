import { parseEther, parseGwei } from 'viem/utils'
import { larger, smaller } from '../../../lib/bigint.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { fingerprintOf } from '../../../lib/hash.ts'
import type { Clock } from '../../../lib/time.ts'
import type { EvmDraft, Fees } from '../content.ts'
import { ceilingOf, type PoolMinimum, type PriceBounds, type PriceFloor, tipOf } from './fees.ts'

export interface PriceBoundsMemory {
  current(): PriceBounds
  /**
   * Notes that no pool accepted these fees; `messages` are the nodes'. Of several numbers the one counts that
   * demands the least.
   */
  sawTooCheap(fees: Fees, messages: readonly string[]): void
  /**
   * Notes that no endpoint accepted a transaction with this whole fee, in wei. The highest maximum counts.
   */
  sawTooDear(fee: bigint, messages: readonly string[]): void
}

/**
 * A bound counts for this long after a node stated it, in ms. With a longer time an old minimum of one pool
 * keeps all transactions expensive; with a shorter time each transaction has to be refused once to learn it.
 */
const PRICE_LIMIT_HOLD_MS = 60_000

/**
 * A pool's minimum applies to callers' prices for this long, in ms. It is a setting of the node, which
 * changes with a restart. Then the first such price is signed, to see whether it is now accepted: with a
 * shorter time more of them occupy a nonce, with a longer one they wait in vain.
 */
const MINIMUM_HOLD_MS = 3_600_000

/** geth writes its cap with two decimals, so the number may be rounded up by this, in wei. */
const CAP_ROUNDING = parseEther('0.005')

/** Remembers the prices that nodes demanded. A lost memory costs one refused broadcast. */
export function createPriceBounds(clock: Clock): PriceBoundsMemory {
  let floor: { readonly value: PriceFloor; readonly until: number } | undefined
  let maximum: { readonly value: bigint; readonly until: number } | undefined
  const unexpired = <T>(known: { readonly value: T; readonly until: number } | undefined): T | undefined =>
    known !== undefined && clock.monotonic() < known.until ? known.value : undefined
  let minimum: { readonly value: PoolMinimum; readonly until: number } | undefined
  const until = () => clock.monotonic() + PRICE_LIMIT_HOLD_MS
  return {
    current: () => {
      const [least, most, pool] = [unexpired(floor), unexpired(maximum), unexpired(minimum)]
      return {
        ...(least === undefined ? {} : { floor: least }),
        ...(pool === undefined ? {} : { poolMinimum: pool }),
        ...(most === undefined ? {} : { maximumFee: most }),
      }
    },
    sawTooCheap: (fees, messages) => {
      const [first, ...others] = messages.map((message) => floorFrom(fees, message))
      if (first === undefined) return
      const [before, asked] = [unexpired(floor), others.reduce(lowerOf, first)]
      floor = { value: before === undefined ? asked : higherOf(before, asked), until: until() }
      const [named, ...more] = messages.flatMap((message) => minimumIn(message) ?? [])
      if (named === undefined) return
      const value = more.reduce(
        (least, one) => ({ tip: smaller(least.tip, one.tip), price: smaller(least.price, one.price) }),
        named,
      )
      minimum = { value, until: clock.monotonic() + MINIMUM_HOLD_MS }
    },
    sawTooDear: (fee, messages) => {
      const value = messages.map((message) => maximumFrom(fee, message)).reduce(larger, 0n)
      maximum = { value, until: until() }
    },
  }
}

function lowerOf(a: PriceFloor, b: PriceFloor): PriceFloor {
  return larger(a.tip, a.ceiling) <= larger(b.tip, b.ceiling) ? a : b
}

function higherOf(a: PriceFloor, b: PriceFloor): PriceFloor {
  return {
    tip: larger(a.tip, b.tip),
    ceiling: larger(a.ceiling, b.ceiling),
    stated: a.stated && b.stated,
  }
}

/** Matches the lowest tip in messages. */
const TIPS = [
  /(?:tip|minimum) needed:? (\d+)/i, // geth
  /required priority fee (\d+)/i, // Reth
  /PriorityFeePerGas too low \d+ < (\d+)/i, // Nethermind
]

/** Matches the lowest gas price in messages. */
const PRICES = [
  /use at least tx\.gasPrice = (\d+)/i, // Metis
  /minimum gas price '(\d+)'/i, // Hedera
  /minimal: (\d+)/i, // OpenEthereum
]

function numberIn(message: string, patterns: readonly RegExp[]): bigint | undefined {
  const found = patterns.map((pattern) => pattern.exec(message)?.[1]).find((one) => one !== undefined)
  return found === undefined ? undefined : BigInt(found)
}

function minimumIn(message: string): PoolMinimum | undefined {
  const [tip, price] = [TIPS, PRICES].map((patterns) => numberIn(message, patterns))
  return tip === undefined && price === undefined ? undefined : { tip: tip ?? 0n, price: price ?? 0n }
}

/**
 * Reads the prices that a message names; "baseFee: 7" of Nitro and Nethermind as well. The market knows a
 * base fee without a number; a pool's minimum without a number has to be guessed.
 */
function floorFrom(fees: Fees, message: string): PriceFloor {
  const [tip, price] = [TIPS, PRICES].map((patterns) => numberIn(message, patterns))
  const [, baseFee] = /base ?fee:? (\d+)/i.exec(message) ?? []
  if (price !== undefined) return { tip: 0n, ceiling: price, stated: true }
  if (tip !== undefined || baseFee !== undefined)
    return { tip: tip ?? 0n, ceiling: BigInt(baseFee ?? 0) + (tip ?? 0n), stated: true }
  if (/base ?fee/i.test(message)) return { tip: 0n, ceiling: 0n, stated: true }
  return { tip: nextGuess(tipOf(fees)), ceiling: nextGuess(ceilingOf(fees)), stated: false }
}

/**
 * The first guess after a price of 0, in wei per gas. The next ones double it, so that 5 gwei are reached
 * with the seventh, within two minutes; from a lower start the guesses would be forgotten (`HOLD_MS`) before
 * they arrive. The market bounds each of them.
 */
const FIRST_GUESS = parseGwei('0.1')

/** Doubles a price. */
function nextGuess(price: bigint): bigint {
  return price === 0n ? FIRST_GUESS : price * 2n + 1n
}

/**
 * Reads "tx fee (1.50 ether) exceeds the configured cap (1.00 ether)" of geth, and the same in wei of Reth.
 * Without a number the maximum is half of the refused fee.
 */
function maximumFrom(fee: bigint, message: string): bigint {
  const [, cap, unit] = /configured cap \((\d+(?:\.\d+)?) (ether|wei)\)/i.exec(message) ?? []
  const stated =
    cap === undefined
      ? 0n
      : unit?.toLowerCase() === 'wei'
        ? BigInt(cap.split('.')[0] ?? 0)
        : parseEther(cap) - CAP_ROUNDING
  return stated > 0n && stated < fee ? stated : fee / 2n
}

/** The parts of a transaction on which the least gas depends that a node accepts for it. */
type GasContent = Pick<EvmDraft, 'to' | 'value' | 'data'>

/**
 * Limits of gas that nodes named in their refusals. They affect the gas limits that the service chooses, but
 * refuse nothing: a node can be wrong.
 */
export interface GasLimitsMemory {
  /** The most gas of one transaction, to which margins are cut; undefined if no node named it lately. */
  most(): bigint | undefined
  /** The least gas of this content; 0 when no node named it lately. */
  leastFor(content: GasContent): bigint
  /** Notes that nodes refused this content with its gas limit `gas`; `message` is theirs. */
  sawRefusal(content: GasContent & { readonly gas: bigint }, message: string): void
}

/**
 * A limit counts for this long after a node named it, in ms. With a longer time, a limit that a fork has
 * lifted keeps valid transactions out; with a shorter one, large transactions have to be refused more often
 * to learn it.
 */
const GAS_LIMIT_HOLD_MS = 600_000

/**
 * A named minimum counts up to this many times the refused gas limit. Avalanche's demands at most some ten
 * times the intrinsic gas; a node that names more is wrong, and gas limits cost money there.
 */
const MOST_RAISED = 16n

/** The memory holds the least gas of at most this many contents and forgets the oldest first. */
const MAX_REMEMBERED = 1_000

interface StoredLimit {
  readonly gas: bigint
  readonly until: number
}

/** Remembers the limits that nodes named. A lost memory costs one refused broadcast. */
export function createGasLimits(clock: Clock): GasLimitsMemory {
  let most: StoredLimit | undefined
  const least = new BoundedMap<string, StoredLimit>(MAX_REMEMBERED)
  const unexpired = (stored: StoredLimit | undefined) =>
    stored !== undefined && clock.monotonic() < stored.until ? stored.gas : undefined
  return {
    most: () => unexpired(most),
    // If there are none, as nearly always, the content is not read.
    leastFor: (content) => (least.size === 0 ? 0n : (unexpired(least.get(keyOf(content))) ?? 0n)),
    sawRefusal: ({ gas: refused, ...content }, message) => {
      const named = readGasLimits(message)
      const until = clock.monotonic() + GAS_LIMIT_HOLD_MS
      if (named.most !== undefined) most = { gas: named.most, until }
      if (named.least === undefined || named.least > refused * MOST_RAISED) return
      const key = keyOf(content)
      const gas = larger(named.least, unexpired(least.get(key)) ?? 0n)
      least.set(key, { gas, until })
    },
  }
}

function keyOf({ to, value, data }: GasContent): string {
  return fingerprintOf({ to: to?.toLowerCase(), value, data: data.toLowerCase() })
}

/** Matches the maximum gas of a transaction in messages, with the nodes that send them. */
const MOST = [
  /gas limit too high \(cap: (\d+)/i, // geth, EIP-7825
  /gas limit \(\d+\) is greater than the cap \((\d+)\)/i, // revm
  /gas limit must be at most (\d+)/i, // Besu
  /exceeded cap of (\d+)/i, // Nethermind, EIP-7825
  /^gas limit of transaction is greater than the allowed max of (\d+)/i, // Linea
  /^GasLimitExceeded, Gas limit: (\d+)/i, // Nethermind, the block's limit
]

/** Matches the minimum gas of this transaction in messages. */
const LEAST = [
  /must specify gas limit at least (\d+)/i, // Avalanche
  /gas \d+, minimum needed (\d+)/i, // geth
  /intrinsic gas cost (\d+) exceeds gas limit/i, // Besu
  /(?:call gas cost|gas floor) \((\d+)\) exceeds the gas limit/i, // revm
]

/** Reads the limits that a message names. */
export function readGasLimits(message: string): { readonly most?: bigint; readonly least?: bigint } {
  const [most, least] = [MOST, LEAST].map((patterns) => {
    const named = patterns.map((pattern) => pattern.exec(message)?.[1]).find((one) => one !== undefined)
    return named === undefined ? undefined : BigInt(named)
  })
  return { ...(most !== undefined && { most }), ...(least !== undefined && { least }) }
}
