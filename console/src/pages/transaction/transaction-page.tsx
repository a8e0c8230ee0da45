import {
  RelayerApiError,
  type RelayerEvent,
  type Schemas,
  type Transaction,
} from '../../../../clients/typescript/src/index.ts'
import { type Currency, withAmounts } from '../../format/amounts.ts'
import { canceledContent } from '../../format/content.ts'
import { nameOfPerson } from '../../format/person.ts'
import { shorten } from '../../format/shorten.ts'
import { withLocalTimes } from '../../format/times.ts'
import { useLiveReload } from '../../live/use-live.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { Age } from '../../parts/age.tsx'
import { ContentDetails } from '../../parts/content.tsx'
import { Facts } from '../../parts/facts.tsx'
import { LoadedPage } from '../../parts/loaded-page.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { hrefOf } from '../../routing/routes.ts'
import { useOffers, useWorkplace } from '../../session/session-context.ts'
import { DecideButtons } from '../approvals/decide-buttons.tsx'
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
  const approval = useApproval(transaction)
  const isOpen = !FINAL.includes(status)
  const diagnosis = useLoad(
    async (signal) => (isOpen ? await client.transactions.diagnose(relayer_id, id, { signal }) : undefined),
    [id, status, transaction.attempts?.length],
  )
  const on = { network: relayer.value?.network ?? '', network_type }
  const currency = networks.currencyOf(on)
  return (
    <Page
      title={`Transaction ${shorten(id)}`}
      aside={<Status value={status} />}
      actions={
        <TransactionActions
          transaction={transaction}
          currency={currency}
          network={on.network}
          isStopped={relayer.value?.paused === true || relayer.value?.system_disabled === true}
          onDone={reload}
        />
      }
    >
      {awaits_approval && <AwaitedDecision approval={approval} transaction={transaction} onDone={reload} />}
      {status_reason && !isOpen && (
        <Notice tone={status === 'failed' ? 'bad' : 'idle'}>
          {withLocalTimes(withAmounts(status_reason, currency))}
        </Notice>
      )}
      <div class="columns">
        <div>
          <Panel title="Timeline">
            <Timeline moments={lifeOf(transaction, events, approval)} />
          </Panel>
          {approval && (
            <Panel title="Approval">
              <ApprovalFacts approval={approval} currency={currency} />
            </Panel>
          )}
          {isOpen && <DiagnosisPanel diagnosis={diagnosis} currency={currency} />}
        </div>
        <div>
          <Panel title="Content">
            <Payment transaction={transaction} currency={currency} />
            <ContentFacts transaction={transaction} networks={networks} network={relayer.value?.network} />
          </Panel>
          {transaction.receipt && (
            <Panel title="Receipt">
              <ReceiptFacts transaction={transaction} network={networks.find(on)} currency={currency} />
            </Panel>
          )}
        </div>
      </div>
      <Panel title="Attempts">
        {network_type === 'evm' && (transaction.attempts?.length ?? 0) > 0 && (
          <FeeChart transaction={transaction} fees={diagnosis.value?.fees} />
        )}
        <AttemptsTable transaction={transaction} network={networks.find(on)} currency={currency} />
      </Panel>
    </Page>
  )
}

/** Whom it pays and how much. Where a no-op took its nonce, the page goes on saying what it was for. */
function Payment({
  transaction,
  currency,
}: {
  readonly transaction: Transaction
  readonly currency: Currency
}) {
  const replaced = canceledContent(transaction)
  if (replaced === undefined) return <ContentDetails transaction={transaction} currency={currency} />
  return (
    <>
      <p class="muted">A no-op transaction took its place. The original request:</p>
      <ContentDetails transaction={replaced} currency={currency} />
    </>
  )
}

interface ApprovalFactsProps {
  readonly approval: Schemas['Approval']
  readonly currency: Currency
}

/** Why it needed an approval, and who decided, when and why. */
function ApprovalFacts({ approval, currency }: ApprovalFactsProps) {
  const { state, requested_by, reasons, decided_by, decided_at, decision_reason, expires_at } = approval
  const { requested_by_person: sender, decided_by_person: decider } = approval
  return (
    <Facts
      facts={{
        State: <Status value={state} />,
        'Sent by': sender ? nameOfPerson(sender) : <code>{requested_by}</code>,
        'Decided by': decider ? nameOfPerson(decider) : decided_by && <code>{decided_by}</code>,
        Decided: decided_at && <Age of={decided_at} />,
        Comment: decision_reason,
        Until: state === 'waiting' ? <Age of={expires_at} /> : undefined,
        Because: reasons.map((reason) => <div key={reason}>{withAmounts(reason, currency)}</div>),
      }}
    />
  )
}

interface AwaitedDecisionProps {
  readonly approval: Schemas['Approval'] | undefined
  readonly transaction: Transaction
  readonly onDone: () => void
}

/** Asks for the decision where the payment stands. */
function AwaitedDecision({ approval, transaction, onDone }: AwaitedDecisionProps) {
  const offers = useOffers()
  return (
    <Notice tone="warn">
      Waiting for a decision: <a href={hrefOf(['approvals'])}>Approvals</a>.{' '}
      {approval && offers('transactions:approve') && (
        <DecideButtons approval={approval} transaction={transaction} onDone={onDone} />
      )}
    </Notice>
  )
}

/** The approval of a transaction; undefined while it is read, and if none was necessary. */
function useApproval({
  relayer_id,
  id,
  status,
  awaits_approval,
}: Transaction): Schemas['Approval'] | undefined {
  const { client } = useWorkplace().session
  const { value } = useLoad(
    async (signal) => {
      try {
        return await client.approvals.get(relayer_id, id, { signal })
      } catch (error) {
        if (error instanceof RelayerApiError && error.code === 'approval_not_found') return undefined
        throw error
      }
    },
    [id, status, awaits_approval],
  )
  return value
}

/**
 * The history of a transaction from the event log. Without the right to read it, the page tells the life from
 * the record alone.
 */
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
