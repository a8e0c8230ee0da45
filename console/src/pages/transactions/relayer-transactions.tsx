import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import { useTransactionColumns } from '../../parts/transaction-columns.tsx'
import type { Route } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { mayChange, type TransactionFilter } from './filter.ts'

interface RelayerTransactionsProps {
  readonly route: Route
  readonly relayerId: string
  readonly status: TransactionFilter['status']
}

/** The transactions of one relayer, by the number of the page. */
export function RelayerTransactions({ route, relayerId, status }: RelayerTransactionsProps) {
  const { client } = useWorkplace().session
  const columns = useTransactionColumns()
  const rows = usePage({
    route,
    keys: [relayerId, status],
    load: (query) => client.transactions.list(relayerId, { ...query, ...(status && { status }) }).page(),
    changesWith: (event) => mayChange({ relayer_id: relayerId }, event),
  })
  return (
    <PagedTable
      caption="Transactions"
      empty="No transactions."
      columns={columns}
      keyOf={({ id }) => id}
      route={route}
      rows={rows}
    />
  )
}
