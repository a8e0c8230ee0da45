import { BoundedMap } from '../../lib/bounded-map.ts'
import { createBatcher } from '../../lib/concurrency/batcher.ts'
import type { Clock } from '../../lib/time.ts'
import { type Answer, NO_REPLY } from '../answer.ts'
import type { Chain } from '../chain.ts'

interface BalanceReaderOptions {
  /** Reads balances in the order of the addresses, in as few calls as the chain allows. */
  readonly balances: (addresses: readonly string[]) => Promise<Answer<bigint>[]>
  /** Returns the number of balances that one call reads. */
  readonly balancesPerCall: () => number
  readonly clock: Clock
  /** The age of the oldest recent balance, in ms. */
  readonly freshForMs: number
}

/** The maximum number of addresses whose recent balance is kept. More addresses only cause more queries. */
const MAX_ADDRESSES = 10_000

/**
 * Creates readers of balances, which join questions: those that wait for the same address share the next
 * answer.
 */
export function createBalanceReader({
  balances,
  balancesPerCall,
  clock,
  freshForMs,
}: BalanceReaderOptions): Pick<Chain, 'balance' | 'balances' | 'balancesPerCall' | 'recentBalance'> {
  const balance = createBatcher<string, Answer<bigint>>({
    keyOf: (address) => address,
    run: async (addresses, address) => {
      const [answer = NO_REPLY] = await balances([address])
      return addresses.map(() => answer)
    },
  })
  const recent = new BoundedMap<string, RecentAnswer<bigint>>(MAX_ADDRESSES)

  function recentOf(address: string): RecentAnswer<bigint> {
    const known = recent.get(address)
    if (known !== undefined) return known
    const created = createRecentAnswer({ ask: () => balance(address), clock, freshForMs })
    recent.set(address, created)
    return created
  }

  return { balance, balances, balancesPerCall, recentBalance: (address) => recentOf(address).read() }
}

interface RecentAnswerOptions<T> {
  readonly ask: () => Promise<Answer<T>>
  readonly clock: Clock
  /** Readers get a result until this many ms after its query. */
  readonly freshForMs: number
}

/** The newest answer of the nodes to one question. */
export interface RecentAnswer<T> {
  /** Returns the newest result while it is fresh, and otherwise queries once for all concurrent readers. */
  read(): Promise<Answer<T>>
  /** Makes the next reader query again. */
  forget(): void
}

/**
 * After this part of its lifetime a result is refreshed, while readers still get it: frequent readers do not
 * wait for a node. A smaller part queries the nodes more often, and a larger one leaves them less time to
 * answer.
 */
const RENEWED_AFTER = 0.75

/**
 * Creates a reader of recent results. `refused` and `unknown` go only to the readers that waited for them.
 */
export function createRecentAnswer<T>({ ask, clock, freshForMs }: RecentAnswerOptions<T>): RecentAnswer<T> {
  let newest: { readonly at: number; readonly answer: Promise<Answer<T>> } | undefined
  let isRenewing = false

  async function askNow(at: number): Promise<Answer<T>> {
    const asked = { at, answer: ask() }
    newest = asked
    const answer = await asked.answer
    if (answer.kind !== 'ok' && newest === asked) newest = undefined
    return answer
  }

  async function renew(at: number): Promise<void> {
    if (isRenewing) return
    isRenewing = true
    const before = newest
    try {
      const answer = await ask()
      if (answer.kind === 'ok' && newest === before) newest = { at, answer: Promise.resolve(answer) }
    } catch {
      // The reader that finds no fresh result queries again, and gets the error.
    } finally {
      isRenewing = false
    }
  }

  return {
    read() {
      const now = clock.monotonic()
      if (newest === undefined || now - newest.at >= freshForMs) return askNow(now)
      if (now - newest.at >= freshForMs * RENEWED_AFTER) void renew(now)
      return newest.answer
    },
    forget() {
      newest = undefined
    },
  }
}
