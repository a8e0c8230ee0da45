import type { RelayerEvent, Transaction } from '../../../../clients/typescript/src/index.ts'
import { shorten } from '../../format/shorten.ts'
import { useLiveReload } from '../../live/use-live.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { LoadedPage } from '../../parts/loaded-page.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { AttemptsTable } from './attempts-table.tsx'
import { ContentFacts } from './content-facts.tsx'
import { DiagnosisPanel } from './diagnosis-panel.tsx'
import { FeeChart } from './fee-chart.tsx'
import { lifeOf } from './life.ts'
import { ReceiptFacts } from './receipt-facts.tsx'
import { Timeline } from './timeline.tsx'
import { TransactionActions } from './transaction-actions.tsx'

const FINAL: readonly string[] = ['confirmed', 'failed', 'canceled', 'expired']

/** A transaction: what it is, its life, and why it is where it is. */
export function TransactionPage({ relayerId, id }: { readonly relayerId: string; readonly id: string }) {
  const { client } = useWorkplace().session
  const transaction = useLoad((signal) => client.transactions.get(relayerId, id, { signal }), [relayerId, id])
  useLiveReload((event) => event.transaction_id === id, transaction.reload)
  return (
    <LoadedPage title={`Transaction ${shorten(id)}`} loaded={transaction}>
      {(found) => <Loaded transaction={found} reload={transaction.reload} />}
    </LoadedPage>
  )
}

function Loaded({ transaction, reload }: { readonly transaction: Transaction; readonly reload: () => void }) {
  const { client, may } = useWorkplace().session
  const { relayer_id, id, status, status_reason, network_type, awaits_approval } = transaction
  const networks = useNetworks()
  const relayer = useLoad(
    async (signal) => (may('relayers:read') ? await client.relayers.get(relayer_id, { signal }) : undefined),
    [relayer_id],
  )
  const events = useHistory(transaction)
  const isOpen = !FINAL.includes(status)
  const diagnosis = useLoad(
    async (signal) => (isOpen ? await client.transactions.diagnose(relayer_id, id, { signal }) : undefined),
    [id, status, transaction.attempts?.length],
  )
  const on = { network: relayer.value?.network ?? '', network_type }
  return (
    <Page
      title={`Transaction ${shorten(id)}`}
      aside={<Status value={status} />}
      actions={
        <TransactionActions transaction={transaction} currency={networks.currencyOf(on)} onDone={reload} />
      }
    >
      {awaits_approval && (
        <Notice tone="warn">
          It waits for a decision: <a href={hrefOf(['approvals'])}>Approvals</a>.
        </Notice>
      )}
      {status_reason && <Notice tone={status === 'failed' ? 'bad' : 'idle'}>{status_reason}</Notice>}
      <div class="columns">
        <div>
          <Panel title="Life">
            <Timeline moments={lifeOf(transaction, events)} />
          </Panel>
          {isOpen && <DiagnosisPanel diagnosis={diagnosis} />}
        </div>
        <div>
          <Panel title="Content">
            <ContentFacts transaction={transaction} networks={networks} network={relayer.value?.network} />
          </Panel>
          {transaction.receipt && (
            <Panel title="Receipt">
              <ReceiptFacts
                transaction={transaction}
                network={networks.find(on)}
                currency={networks.currencyOf(on)}
              />
            </Panel>
          )}
        </div>
      </div>
      <Panel title="Attempts">
        {network_type === 'evm' && (transaction.attempts?.length ?? 0) > 0 && (
          <FeeChart transaction={transaction} fees={diagnosis.value?.fees} />
        )}
        <AttemptsTable transaction={transaction} network={networks.find(on)} />
      </Panel>
    </Page>
  )
}

/** The history of a transaction from the event log. Without the right to read it, the page tells the life from the record alone. */
function useHistory({ id, status, attempts }: Transaction): readonly RelayerEvent[] {
  const { client, may } = useWorkplace().session
  const { value = [] } = useLoad(
    async (signal) => {
      if (!may('events:read')) return []
      return await Array.fromAsync(client.events.list({ transaction_id: id, signal }))
    },
    [id, status, attempts?.length],
  )
  return value
}
