import { createBatcher } from '../lib/concurrency/batcher.ts'
import type { Answer } from './answer.ts'
import type { Chain } from './chain.ts'

/**
 * Creates a reader of balances that joins questions. Every accepted request asks for the balance of its relayer; requests that wait for
 * the same address share the next answer.
 */
export function createBalanceReader(
  readBalance: (address: string) => Promise<Answer<bigint>>,
): Chain['balance'] {
  return createBatcher<string, Answer<bigint>>({
    keyOf: (address) => address,
    run: async (addresses, address) => {
      const answer = await readBalance(address)
      return addresses.map(() => answer)
    },
  })
}
