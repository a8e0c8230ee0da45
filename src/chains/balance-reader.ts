import { createBatcher } from '../lib/concurrency/batcher.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Answer } from './answer.ts'
import type { Chain } from './chain.ts'
import { createRecentAnswer, type RecentAnswer } from './recent-answer.ts'

interface BalanceReaderOptions {
  readonly readBalance: (address: string) => Promise<Answer<bigint>>
  readonly clock: Clock
  /** The age of the oldest recent balance, in ms. */
  readonly freshForMs: number
}

/** The most addresses whose recent balance is kept. More of them at a time only ask the nodes more often. */
const MAX_ADDRESSES = 10_000

/** Creates readers of balances, which join questions: those that wait for the same address share the next answer. */
export function createBalanceReader({
  readBalance,
  clock,
  freshForMs,
}: BalanceReaderOptions): Pick<Chain, 'balance' | 'recentBalance'> {
  const balance = createBatcher<string, Answer<bigint>>({
    keyOf: (address) => address,
    run: async (addresses, address) => {
      const answer = await readBalance(address)
      return addresses.map(() => answer)
    },
  })
  const recent = new Map<string, RecentAnswer<bigint>>()

  function recentOf(address: string): RecentAnswer<bigint> {
    const known = recent.get(address)
    if (known !== undefined) return known
    if (recent.size >= MAX_ADDRESSES) recent.clear()
    const created = createRecentAnswer({ ask: () => balance(address), clock, freshForMs })
    recent.set(address, created)
    return created
  }

  return { balance, recentBalance: (address) => recentOf(address).read() }
}
