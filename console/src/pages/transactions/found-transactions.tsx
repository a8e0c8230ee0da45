import { useLiveReload } from '../../live/use-live.ts'
import { useLoad } from '../../live/use-load.ts'
import { OlderPager } from '../../parts/older-pager.tsx'
import { ROWS_PER_PAGE } from '../../parts/pager.tsx'
import { Table } from '../../parts/table.tsx'
import { useTransactionColumns } from '../../parts/transaction-columns.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import type { Route } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { mayChange, type TransactionFilter } from './filter.ts'

interface FoundTransactionsProps {
  readonly route: Route
  readonly filter: TransactionFilter
}

/** The transactions of all relayers that fit a filter. */
export function FoundTransactions({ route, filter }: FoundTransactionsProps) {
  const { client } = useWorkplace().session
  const columns = useTransactionColumns({ namesRelayer: true })
  const { cursor } = route.query
  const query = { ...filter, ...(cursor && { cursor }), limit: ROWS_PER_PAGE }
  const found = useLoad((signal) => client.transactions.search({ ...query, signal }).page(), [query])
  useLiveReload((event) => mayChange(filter, event), found.reload)
  return (
    <WhenLoaded loaded={found}>
      {({ items, nextCursor }) => (
        <>
          <Table
            caption="Transactions"
            empty={nextCursor ? 'No matches so far. Older ones may follow.' : 'No transactions.'}
            columns={columns}
            keyOf={({ id }) => id}
            rows={items}
          />
          <OlderPager route={route} name="cursor" next={nextCursor} />
        </>
      )}
    </WhenLoaded>
  )
}
