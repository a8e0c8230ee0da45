import { Page } from '../../parts/page.tsx'
import type { Route } from '../../routing/routes.ts'
import { readFilter } from './filter.ts'
import { FoundTransactions } from './found-transactions.tsx'
import { RelayerTransactions } from './relayer-transactions.tsx'
import { TransactionFilters } from './transaction-filters.tsx'

/**
 * The transactions of all relayers, or those that fit, newest first. However many there are, the service sends one page of them. The list of a
 * single relayer has numbered pages, because the service counts them.
 */
export function TransactionsPage({ route }: { readonly route: Route }) {
  const filter = readFilter(route)
  const { relayer_id: relayerId, status, network_type: type, to } = filter
  return (
    <Page title="Transactions">
      <TransactionFilters route={route} filter={filter} />
      {relayerId !== undefined && type === undefined && to === undefined ? (
        <RelayerTransactions route={route} relayerId={relayerId} status={status} />
      ) : (
        <FoundTransactions route={route} filter={filter} />
      )}
    </Page>
  )
}
