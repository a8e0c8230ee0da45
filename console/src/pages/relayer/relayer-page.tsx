import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { withAmounts } from '../../format/amounts.ts'
import { explorerLink, hostOf } from '../../format/explorer.ts'
import { useLiveReload } from '../../live/use-live.ts'
import { type Loaded, useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { useNow } from '../../live/use-now.ts'
import { Age } from '../../parts/age.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Facts } from '../../parts/facts.tsx'
import { LoadedPage } from '../../parts/loaded-page.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Table } from '../../parts/table.tsx'
import { useTransactionColumns } from '../../parts/transaction-columns.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { healthOf, queueOf } from '../overview/relayer-health.ts'
import { AbisPanel } from './abis-panel.tsx'
import { AccountsPanel } from './accounts-panel.tsx'
import { Policies } from './policies.tsx'
import { RelayerActions } from './relayer-actions.tsx'

type Relayer = Schemas['Relayer']
type RelayerStatus = Schemas['RelayerStatus']

/** A relayer: its account, its rules, and what it sent last. */
export function RelayerPage({ id }: { readonly id: string }) {
  const { client, may } = useWorkplace().session
  const columns = useTransactionColumns()
  const networks = useNetworks()
  const relayer = useLoad((signal) => client.relayers.get(id, { signal }), [id])
  const status = useLoad((signal) => client.relayers.getStatus(id, { signal }), [id])
  const newest = useLoad(
    async (signal) =>
      may('transactions:read')
        ? (await client.transactions.list(id, { per_page: 10, signal }).page()).items
        : [],
    [id],
  )
  const reload = () => {
    for (const loaded of [relayer, status, newest]) loaded.reload()
  }
  useLiveReload(({ relayer_id }) => relayer_id === id, reload)
  return (
    <LoadedPage title={`Relayer ${id}`} loaded={relayer}>
      {(found) => (
        <Page
          title={found.name}
          aside={<Health relayer={found} status={status.value} />}
          actions={
            <RelayerActions
              relayer={found}
              currency={networks.currencyOf(found)}
              open={status.value?.pending_transactions_count ?? 0}
              onDone={reload}
            />
          }
        >
          {found.disabled_reason && (
            <Notice tone="bad">
              {withAmounts(found.disabled_reason.details, networks.currencyOf(found))}
            </Notice>
          )}
          <div class="columns">
            <Account relayer={found} status={status} />
            <Policies relayer={found} currency={networks.currencyOf(found)} />
          </div>
          {status.value?.accounts && (
            <AccountsPanel accounts={status.value.accounts} currency={networks.currencyOf(found)} />
          )}
          {found.network_type === 'evm' && <AbisPanel relayerId={id} />}
          {may('transactions:read') && (
            <Panel
              title="Newest transactions"
              actions={<a href={hrefOf(['transactions'], { relayer: id })}>All</a>}
            >
              <WhenLoaded loaded={newest}>
                {(rows) => (
                  <Table
                    caption="Newest transactions"
                    columns={columns}
                    rows={rows}
                    keyOf={(row) => row.id}
                    empty="No transactions yet."
                  />
                )}
              </WhenLoaded>
            </Panel>
          )}
        </Page>
      )}
    </LoadedPage>
  )
}

function Health({
  relayer,
  status,
}: {
  readonly relayer: Relayer
  readonly status: RelayerStatus | undefined
}) {
  const { word, tone } = healthOf(relayer, status, useNow())
  return <Status value={word} tone={tone} />
}

function Account({
  relayer,
  status: { value: status },
}: {
  readonly relayer: Relayer
  readonly status: Loaded<RelayerStatus>
}) {
  const networks = useNetworks()
  const link = explorerLink(networks.find(relayer), { kind: 'address', id: relayer.address })
  return (
    <Panel title="Account">
      <Facts
        facts={{
          Id: <Copyable text={relayer.id} name="id" whole />,
          Network: `${relayer.network} (${relayer.network_type})`,
          Address: (
            <>
              <Copyable text={relayer.address} name="address" whole />{' '}
              {link && (
                <a href={link} target="_blank" rel="noreferrer noopener">
                  Explorer ↗
                </a>
              )}
            </>
          ),
          Balance: <Amount of={status?.balance} currency={networks.currencyOf(relayer)} isExact />,
          'Next nonce': status?.nonce,
          'Sequence number': status?.sequence_number,
          Queue: queueOf(status),
          Scheduled: status?.deferred_transactions_count && (
            <>
              {status.deferred_transactions_count}
              {status.deferred_transactions_count === 1
                ? ' waits for an approval, or for its time'
                : ' wait for an approval, or for their time'}
            </>
          ),
          'Oldest in queue': status?.oldest_pending_transaction_timestamp && (
            <Age of={status.oldest_pending_transaction_timestamp} />
          ),
          'Last confirmed': <Age of={status?.last_confirmed_transaction_timestamp} />,
          'Channel accounts': 'channels' in relayer ? relayer.channels?.length : undefined,
          Signer: <a href={hrefOf(['signers'])}>{relayer.signer_id}</a>,
          Notification: relayer.notification_id && (
            <a href={hrefOf(['notifications', relayer.notification_id])}>{relayer.notification_id}</a>
          ),
          Endpoints: relayer.custom_rpc_urls?.map(({ url }) => <div key={url}>{hostOf(url)}</div>),
        }}
      />
    </Panel>
  )
}
