import { ALL_RELAYERS, type Visibility } from '../../../src/access/principal.ts'
import type { Db } from '../../../src/database/db.ts'
import { findPosition } from '../../../src/transactions/search/positions-store.ts'
import { searchTransactions, type TransactionSearch } from '../../../src/transactions/search/search-store.ts'
import type { TestAccount } from '../fixture.ts'

/** The visibility of a key for these relayers. */
export const visibilityOf = (...owners: readonly TestAccount[]): Visibility => ({
  relayers: owners.map(({ relayer }) => relayer.id),
})

/** Follows the cursors of a search to its end, and calls `between` after each page. It gives the ids of each page. */
export async function collectPages(
  db: Db,
  search: Partial<TransactionSearch>,
  between: () => Promise<unknown> = async () => {},
): Promise<string[][]> {
  const whole: TransactionSearch = { visibility: ALL_RELAYERS, limit: 100, ...search }
  const pages: string[][] = []
  for (let { before } = whole; ; ) {
    const { items, lastId } = await searchTransactions(db, { ...whole, before })
    pages.push(items.map(({ transaction }) => transaction.id))
    if (lastId === undefined) return pages
    before = await findPosition(db, lastId, whole.visibility)
    if (before === undefined) throw new Error('the cursor leads nowhere')
    await between()
  }
}
