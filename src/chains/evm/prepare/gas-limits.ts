import { larger } from '../../../lib/bigint.ts'
import { fingerprintOf } from '../../../lib/fingerprint.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { EvmDraft } from '../content.ts'

/** The parts of a transaction on which the least gas depends that a node accepts for it. */
type GasContent = Pick<EvmDraft, 'to' | 'value' | 'data'>

/**
 * Limits of gas that nodes named in their refusals. They shape the gas limits that the service chooses, and refuse nothing by themselves: a node can
 * be wrong.
 */
export interface GasLimitsMemory {
  /** The most gas of one transaction, to which margins are cut; undefined when no node named it lately. */
  most(): bigint | undefined
  /** The least gas of this content; 0 when no node named it lately. */
  leastFor(content: GasContent): bigint
  /** Notes that nodes refused this content with its gas limit `gas`; `message` is theirs. */
  sawRefusal(content: GasContent & { readonly gas: bigint }, message: string): void
}

/**
 * A limit counts for this long after a node named it, in ms. With a longer time, a limit that a fork has lifted keeps valid transactions out; with
 * a shorter one, large transactions have to be refused more often to learn it.
 */
const HOLD_MS = 600_000

/**
 * A named minimum counts up to this many times the refused gas limit. Avalanche's demands at most some ten times the intrinsic gas; a node that
 * names more is wrong, and gas limits cost money there.
 */
const MOST_RAISED = 16n

/** The memory holds the least gas of at most this many contents and forgets the oldest first. */
const MAX_REMEMBERED = 1_000

interface Held {
  readonly gas: bigint
  readonly until: number
}

/** Remembers the limits that nodes named. A lost memory costs one refused broadcast. */
export function createGasLimits(clock: Clock): GasLimitsMemory {
  let most: Held | undefined
  const least = new Map<string, Held>()
  const unexpired = (held: Held | undefined) =>
    held !== undefined && clock.monotonic() < held.until ? held.gas : undefined
  return {
    most: () => unexpired(most),
    // Without any, as nearly always, the content is not read.
    leastFor: (content) => (least.size === 0 ? 0n : (unexpired(least.get(keyOf(content))) ?? 0n)),
    sawRefusal: ({ gas: refused, ...content }, message) => {
      const named = readGasLimits(message)
      const until = clock.monotonic() + HOLD_MS
      if (named.most !== undefined) most = { gas: named.most, until }
      if (named.least === undefined || named.least > refused * MOST_RAISED) return
      const key = keyOf(content)
      const gas = larger(named.least, unexpired(least.get(key)) ?? 0n)
      least.delete(key)
      least.set(key, { gas, until })
      const [oldest] = least.keys()
      if (least.size > MAX_REMEMBERED && oldest !== undefined) least.delete(oldest)
    },
  }
}

function keyOf({ to, value, data }: GasContent): string {
  return fingerprintOf({ to: to?.toLowerCase(), value, data: data.toLowerCase() })
}

/** Where messages name the most gas of a transaction, with the nodes that say so. */
const MOST = [
  /gas limit too high \(cap: (\d+)/i, // geth, EIP-7825
  /gas limit \(\d+\) is greater than the cap \((\d+)\)/i, // revm
  /gas limit must be at most (\d+)/i, // Besu
  /exceeded cap of (\d+)/i, // Nethermind, EIP-7825
  /^gas limit of transaction is greater than the allowed max of (\d+)/i, // Linea
  /^GasLimitExceeded, Gas limit: (\d+)/i, // Nethermind, the block's limit
]

/** Where messages name the least gas of this transaction. */
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
