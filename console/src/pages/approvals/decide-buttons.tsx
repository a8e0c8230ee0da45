import { useState } from 'preact/hooks'
import type { Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { nameOfCaller } from '../../format/person.ts'
import { useCurrencies } from '../../live/use-currencies.ts'
import { useLoad } from '../../live/use-load.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { ContentDetails } from '../../parts/content.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { DryRunPreview } from '../../parts/dry-run-preview.tsx'
import { Facts } from '../../parts/facts.tsx'
import { useWorkplace } from '../../session/session-context.ts'

interface DecideProps {
  readonly approval: Schemas['Approval']
  readonly transaction: Transaction
  readonly onDone: () => void
}

/**
 * The two answers to a transaction that waits for an approval. A key cannot decide about what it sent itself.
 */
export function DecideButtons(props: DecideProps) {
  const { key } = useWorkplace().session
  const [decision, setDecision] = useState<'approve' | 'refuse'>()
  if (props.approval.requested_by === key.id) return <span class="why">Someone else must decide.</span>
  const close = () => setDecision(undefined)
  return (
    <div class="buttons">
      <button type="button" onClick={() => setDecision('approve')}>
        Approve
      </button>
      <button type="button" class="danger" onClick={() => setDecision('refuse')}>
        Refuse
      </button>
      {decision === 'approve' && <ApproveDialog {...props} onClose={close} />}
      {decision === 'refuse' && <RefuseDialog {...props} onClose={close} />}
    </div>
  )
}

interface DecideDialogProps extends DecideProps {
  readonly onClose: () => void
}

/** Shows the payment and what would happen, and cannot be confirmed when the service would not send it. */
function ApproveDialog({ approval, transaction, onDone, onClose }: DecideDialogProps) {
  const { client } = useWorkplace().session
  const currency = useCurrencies()(transaction)
  const { relayer_id, transaction_id: id } = approval
  const [reason, setReason] = useState('')
  const dryRun = useLoad(
    async (signal) => (await client.approvals.get(relayer_id, id, { simulate: true, signal })).dry_run,
    [id],
  )
  return (
    <ActionDialog
      title="Approve"
      confirm="Approve it"
      isReady={dryRun.value?.accepted === true}
      act={() => client.approvals.decide(relayer_id, id, { decision: 'approve', ...(reason && { reason }) })}
      onDone={onDone}
      onClose={onClose}
    >
      <Payment approval={approval} transaction={transaction} />
      <DryRunPreview
        dryRun={dryRun}
        currency={currency}
        accepted="If you approve it now, it is simulated again and sent."
      />
      <ReasonField value={reason} onInput={setReason} />
    </ActionDialog>
  )
}

function RefuseDialog({ approval, transaction, onDone, onClose }: DecideDialogProps) {
  const { client } = useWorkplace().session
  const { relayer_id, transaction_id: id } = approval
  const [reason, setReason] = useState('')
  return (
    <ActionDialog
      title="Refuse"
      confirm="Refuse it"
      isDangerous
      act={() => client.approvals.decide(relayer_id, id, { decision: 'refuse', ...(reason && { reason }) })}
      onDone={onDone}
      onClose={onClose}
    >
      <Payment approval={approval} transaction={transaction} />
      <p>The transaction is canceled without being signed.</p>
      <ReasonField value={reason} onInput={setReason} />
    </ActionDialog>
  )
}

function Payment({ approval, transaction }: Omit<DecideProps, 'onDone'>) {
  const currency = useCurrencies()(transaction)
  const memo = transaction.network_type === 'stellar' ? transaction.memo : undefined
  return (
    <>
      <ContentDetails transaction={transaction} currency={currency} />
      <Facts
        facts={{
          'Sent by': nameOfCaller(approval.requested_by, approval.requested_by_person),
          From: (
            <>
              {approval.relayer_id} <Copyable text={transaction.from} name="sender" />
            </>
          ),
          Memo: memo && memo.type !== 'none' ? `${memo.type}: ${memo.value}` : undefined,
          Why: approval.reasons.map((text) => (
            <div key={text} class="why">
              {text}
            </div>
          )),
        }}
      />
    </>
  )
}

interface ReasonFieldProps {
  readonly value: string
  readonly onInput: (value: string) => void
}

function ReasonField({ value, onInput }: ReasonFieldProps) {
  return (
    <label>
      Reason (the sender can read it)
      <textarea
        name="reason"
        rows={2}
        maxLength={500}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  )
}
