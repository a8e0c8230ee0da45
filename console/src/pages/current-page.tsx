import { Notice } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import { hrefOf, type Route } from '../routing/routes.ts'
import { OverviewPage } from './overview/overview-page.tsx'
import { TransactionPage } from './transaction/transaction-page.tsx'
import { TransactionsPage } from './transactions-page.tsx'

/** Chooses the page of a route. */
export function CurrentPage({ route }: { readonly route: Route }) {
  const [first, second, third] = route.path
  switch (first) {
    case undefined:
      return <OverviewPage />
    case 'transactions':
      return second && third ? (
        <TransactionPage relayerId={second} id={third} />
      ) : (
        <TransactionsPage route={route} />
      )
    default:
      return (
        <Page title="Nothing here">
          <Notice tone="idle">
            The console has no such page. The <a href={hrefOf([])}>overview</a> has all relayers.
          </Notice>
        </Page>
      )
  }
}
