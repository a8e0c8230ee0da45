import { Page } from '../../parts/page.tsx'
import type { Route } from '../../routing/routes.ts'
import { ExportButton } from './export-button.tsx'
import { isOfRelayer, readFilter } from './filter.ts'
import { FoundTransactions } from './found-transactions.tsx'
import { RelayerTransactions } from './relayer-transactions.tsx'
import { SavedFilters } from './saved-filters.tsx'
import { TransactionFilters } from './transaction-filters.tsx'

/**
 * The transactions of all relayers, or those that fit, newest first. However many there are, the service
 * sends one page of them. The list of a single relayer has numbered pages, because the service counts them.
 */
export function TransactionsPage({ route }: { readonly route: Route }) {
  const filter = readFilter(route)
  const { relayer_id: relayerId = '', status } = filter
  return (
    <Page title="Transactions" actions={<ExportButton filter={filter} />}>
      <SavedFilters route={route} />
      <TransactionFilters route={route} filter={filter} />
      {isOfRelayer(filter) ? (
        <RelayerTransactions route={route} relayerId={relayerId} status={status} />
      ) : (
        <FoundTransactions route={route} filter={filter} />
      )}
    </Page>
  )
}
