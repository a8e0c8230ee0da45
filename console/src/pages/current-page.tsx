import { Notice } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import { hrefOf, type Route } from '../routing/routes.ts'
import { ApiKeyPage, CurrentKeyPage } from './api-keys/api-key-page.tsx'
import { ApiKeysPage } from './api-keys/api-keys-page.tsx'
import { ApprovalsPage } from './approvals/approvals-page.tsx'
import { AuditPage } from './audit/audit-page.tsx'
import { NetworksPage } from './networks/networks-page.tsx'
import { NotificationPage } from './notifications/notification-page.tsx'
import { NotificationsPage } from './notifications/notifications-page.tsx'
import { OverviewPage } from './overview/overview-page.tsx'
import { PluginPage } from './plugins/plugin-page.tsx'
import { PluginsPage } from './plugins/plugins-page.tsx'
import { ProposalsPage } from './proposals-page.tsx'
import { RelayerPage } from './relayer/relayer-page.tsx'
import { SchedulesPage } from './schedules/schedules-page.tsx'
import { SearchPage } from './search/search-page.tsx'
import { SessionsPage } from './sessions-page.tsx'
import { SignersPage } from './signers/signers-page.tsx'
import { TransactionPage } from './transaction/transaction-page.tsx'
import { TransactionsPage } from './transactions/transactions-page.tsx'

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
    case 'relayers':
      return second ? <RelayerPage id={second} /> : <OverviewPage />
    case 'approvals':
      return <ApprovalsPage route={route} />
    case 'schedules':
      return <SchedulesPage route={route} />
    case 'networks':
      return <NetworksPage />
    case 'signers':
      return <SignersPage route={route} />
    case 'notifications':
      return second ? (
        <NotificationPage key={second} id={second} route={route} />
      ) : (
        <NotificationsPage route={route} />
      )
    case 'plugins':
      return second ? <PluginPage key={second} id={second} /> : <PluginsPage route={route} />
    case 'api-keys':
      return second ? <ApiKeyPage id={second} /> : <ApiKeysPage route={route} />
    case 'proposals':
      return <ProposalsPage route={route} />
    case 'sessions':
      return <SessionsPage route={route} />
    case 'audit':
      return <AuditPage route={route} />
    case 'key':
      return <CurrentKeyPage />
    case 'search':
      return <SearchPage route={route} />
    default:
      return (
        <Page title="Nothing here">
          <Notice tone="idle">
            This page does not exist. The <a href={hrefOf([])}>overview</a> lists all relayers.
          </Notice>
        </Page>
      )
  }
}
