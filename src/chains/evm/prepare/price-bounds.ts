import { parseEther } from 'viem'
import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Fees } from '../content.ts'
import { ceilingOf, type PriceBounds, type PriceFloor, tipOf } from './fees.ts'

export interface PriceBoundsMemory {
  current(): PriceBounds
  /** No pool took these fees; `words` are the node's. */
  sawTooCheap(fees: Fees, message: string): void
  /** No endpoint let a transaction with this whole fee pass, in wei. */
  sawTooDear(fee: bigint, message: string): void
}

/**
 * How long a bound counts after it was heard of, in ms. Longer, and a minimum that a pool had once keeps everything dear; shorter,
 * and every transaction has to hear of it again.
 */
const HOLD_MS = 60_000

/** geth writes its cap with two decimals, so the number may be rounded up by this, in wei. */
const CAP_ROUNDING = parseEther('0.005')

/** Remembers what nodes say of prices. Losing it costs one refused offer. */
export function createPriceBounds(clock: Clock): PriceBoundsMemory {
  let floor: { readonly value: PriceFloor; readonly until: number } | undefined
  let maximum: { readonly value: bigint; readonly until: number } | undefined
  const unexpired = <T>(known: { readonly value: T; readonly until: number } | undefined): T | undefined =>
    known !== undefined && clock.now() < known.until ? known.value : undefined
  const until = () => clock.now() + HOLD_MS
  return {
    current: () => {
      const [least, most] = [unexpired(floor), unexpired(maximum)]
      return {
        ...(least === undefined ? {} : { floor: least }),
        ...(most === undefined ? {} : { maximumFee: most }),
      }
    },
    sawTooCheap: (fees, message) => {
      const [before, asked] = [unexpired(floor), floorFrom(fees, message)]
      floor = { value: before === undefined ? asked : higherOf(before, asked), until: until() }
    },
    sawTooDear: (fee, message) => {
      maximum = { value: maximumFrom(fee, message), until: until() }
    },
  }
}

function higherOf(a: PriceFloor, b: PriceFloor): PriceFloor {
  return {
    tip: larger(a.tip, b.tip),
    ceiling: larger(a.ceiling, b.ceiling),
    stated: a.stated && b.stated,
  }
}

/**
 * "tip needed 5, tip permitted 1" and "gas tip cap 1, minimum needed 5" of geth; "baseFee: 7" of Nitro. A base fee without a number is
 * for the market to tell; only of a pool's minimum there is no other source than a guess.
 */
function floorFrom(fees: Fees, message: string): PriceFloor {
  const [, tip] = /(?:tip|minimum) needed:? (\d+)/i.exec(message) ?? []
  const [, baseFee] = /base ?fee:? (\d+)/i.exec(message) ?? []
  if (tip !== undefined || baseFee !== undefined)
    return { tip: BigInt(tip ?? 0), ceiling: BigInt(baseFee ?? 0) + BigInt(tip ?? 0), stated: true }
  if (/base ?fee/i.test(message)) return { tip: 0n, ceiling: 0n, stated: true }
  return { tip: twice(tipOf(fees)), ceiling: twice(ceilingOf(fees)), stated: false }
}

/** Grows also from nothing. */
function twice(price: bigint): bigint {
  return price * 2n + 1n
}

/** "tx fee (1.50 ether) exceeds the configured cap (1.00 ether)" of geth. Half of what was refused, where there is no number. */
function maximumFrom(fee: bigint, message: string): bigint {
  const [, cap] = /configured cap \((\d+(?:\.\d+)?) ether\)/i.exec(message) ?? []
  const stated = cap === undefined ? 0n : parseEther(cap) - CAP_ROUNDING
  return stated > 0n && stated < fee ? stated : fee / 2n
}
