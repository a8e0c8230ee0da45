import type { Fields } from './fields.ts'
import { isRecord, locked, type World } from './host.ts'
import { digest } from './transactions.ts'

/** A bound on what happens in a window of time. */
export interface Window<Per extends string = string> {
  /** Requests with the same group are counted together, such as all of one API key. */
  readonly per: Per
  readonly windowSeconds: number
  /** The number of times that it may happen; unlimited if undefined. */
  readonly times: number | undefined
  /** The most of what each of them has, such as gas; any if undefined. */
  readonly amount: bigint | undefined
}

/** The names of the fields of a plugin's windows. */
interface WindowWords<Per extends string> {
  readonly per: readonly Per[]
  readonly times: string
  readonly amount: string
}

/** Reads a window; whoever calls it reads and refuses the other fields. */
export function readWindow<Per extends string>(
  path: string,
  fields: Fields,
  words: WindowWords<Per>,
): Window<Per> {
  const per = fields.word('per', words.per)
  const windowSeconds = fields.integer('window_seconds', 1, 100_000_000)
  if (per === undefined || windowSeconds === undefined)
    throw new Error(`${path}: per and window_seconds are required.`)
  const times = fields.integer(words.times, 0, 1_000_000_000)
  const amount = fields.integer(words.amount, 0, Number.MAX_SAFE_INTEGER)
  if (times === undefined && amount === undefined)
    throw new Error(`${path}: needs ${words.times} or ${words.amount}.`)
  return { per, windowSeconds, times, amount: amount === undefined ? undefined : BigInt(amount) }
}

/** The service puts this in place of the id of an API key where callers need none. */
export const NO_KEY = '(anonymous)'

/** True if a window counts a caller: those per `open` count all callers without a key, and nobody else. */
export function counts({ per }: Pick<Window, 'per'>, caller: string): boolean {
  return per !== 'open' || caller === NO_KEY
}

/** Counters are kept in so many values, because the service keeps a limited number for a plugin. */
const SHARD_DIGITS = 2

/** Something that is about to happen. */
export interface Happening {
  /** Names what is counted together with it. */
  readonly who: readonly string[]
  readonly amount: bigint
  /** Makes the error for a limit that is reached. */
  beyond(message: string): Error
}

/**
 * Counts something in the window of this moment. What is refused afterwards stays counted: a limit may be
 * reached too early, never too late. @throws the error of what happens
 */
export async function countIn(
  { per, windowSeconds, times, amount }: Window,
  { who, amount: more, beyond }: Happening,
  world: World,
): Promise<void> {
  const name = digest(who)
  // Windows begin at multiples of their length since 1970, in all processes at once.
  const window = Math.floor(world.now() / 1000 / windowSeconds)
  const key = `count:${per}:${windowSeconds}:${window}:${name.slice(0, SHARD_DIGITS)}`
  const entry = name.slice(0, 24)
  await locked(world, `${key}:lock`, async () => {
    const value = await world.kv.get(key)
    const counted = isRecord(value) ? value : {}
    const before = readCount(counted[entry])
    const next = { times: before.times + 1, amount: before.amount + more }
    if ((times !== undefined && next.times > times) || (amount !== undefined && next.amount > amount))
      throw beyond(`The limit per ${per} in ${windowSeconds} seconds is reached.`)
    const kept = { ...counted, [entry]: [next.times, next.amount.toString()] }
    await world.kv.set(key, kept, { ttlSec: windowSeconds })
  })
}

function readCount(value: unknown): { readonly times: number; readonly amount: bigint } {
  const [times, amount] = Array.isArray(value) ? value : [0, '0']
  return { times: Number(times), amount: BigInt(String(amount)) }
}
