import { useState } from 'preact/hooks'
import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { shorten } from '../format/shorten.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { Age } from '../parts/age.tsx'
import { Page } from '../parts/page.tsx'
import { PagedTable, usePage } from '../parts/paged-table.tsx'
import { Status } from '../parts/status.tsx'
import type { Column } from '../parts/table.tsx'
import { hrefOfTransaction, type Route } from '../routing/routes.ts'
import { changeQuery } from '../routing/use-route.ts'
import { useOffers, useWorkplace } from '../session/session-context.ts'

type Approval = Schemas['Approval']

const STATES = ['waiting', 'approved', 'refused', 'expired', 'withdrawn'] as const

const COLUMNS: readonly Column<Approval>[] = [
  {
    name: 'Transaction',
    cell: ({ relayer_id, transaction_id }) => (
      <>
        <a href={hrefOfTransaction(relayer_id, transaction_id)}>
          <code title={transaction_id}>{shorten(transaction_id)}</code>
        </a>
        <div class="why">{relayer_id}</div>
      </>
    ),
  },
  { name: 'State', cell: ({ state }) => <Status value={state} /> },
  {
    name: 'Why',
    isExtra: true,
    cell: ({ reasons }) =>
      reasons.map((reason) => (
        <div key={reason} class="why">
          {reason}
        </div>
      )),
  },
  { name: 'Asked by', isExtra: true, cell: ({ requested_by }) => requested_by },
  { name: 'Since', isNumber: true, cell: ({ created_at }) => <Age of={created_at} /> },
  {
    name: 'Decided',
    isExtra: true,
    cell: ({ decided_by, decision_reason }) => (
      <>
        {decided_by ?? '–'} {decision_reason && <div class="why">{decision_reason}</div>}
      </>
    ),
  },
]

/** What waits for a decision, and what was decided. */
export function ApprovalsPage({ route }: { readonly route: Route }) {
  const { client } = useWorkplace().session
  const offers = useOffers()
  const state = STATES.find((known) => known === route.query.state) ?? 'waiting'
  const rows = usePage({
    route,
    keys: [state],
    load: (query) => client.approvals.list({ ...query, state }).page(),
    changesWith: ({ type }) => type === 'transaction_update',
  })
  const decide: Column<Approval> = {
    name: 'Decide',
    cell: (approval) => <Decide approval={approval} onDone={rows.reload} />,
  }
  const canDecide = offers('transactions:approve') && state === 'waiting'
  return (
    <Page title="Approvals">
      <div class="filters">
        <label>
          State
          <select
            value={state}
            onChange={(event) => changeQuery(route, { state: event.currentTarget.value })}
          >
            {STATES.map((known) => (
              <option key={known}>{known}</option>
            ))}
          </select>
        </label>
      </div>
      <PagedTable
        caption="Approvals"
        empty="Nothing."
        columns={canDecide ? [...COLUMNS, decide] : COLUMNS}
        keyOf={({ transaction_id }) => transaction_id}
        route={route}
        rows={rows}
      />
    </Page>
  )
}

function Decide({ approval, onDone }: { readonly approval: Approval; readonly onDone: () => void }) {
  const { client, key } = useWorkplace().session
  const [decision, setDecision] = useState<'approve' | 'refuse'>()
  const [reason, setReason] = useState('')
  const { relayer_id, transaction_id, requested_by, reasons } = approval
  if (requested_by === key.id) return <span class="why">Another key must decide.</span>
  const act = async () =>
    decision &&
    (await client.approvals.decide(relayer_id, transaction_id, { decision, ...(reason && { reason }) }))
  return (
    <>
      <button type="button" onClick={() => setDecision('approve')}>
        Approve
      </button>{' '}
      <button type="button" class="danger" onClick={() => setDecision('refuse')}>
        Refuse
      </button>
      {decision && (
        <ActionDialog
          title={decision === 'approve' ? 'Approve' : 'Refuse'}
          confirm={decision === 'approve' ? 'Approve it' : 'Refuse it'}
          isDangerous={decision === 'refuse'}
          act={act}
          onDone={onDone}
          onClose={() => setDecision(undefined)}
        >
          <p>
            {requested_by} sent this transaction with {relayer_id}.{' '}
            {decision === 'approve'
              ? 'Once approved, it is sent like any other.'
              : 'It ends as canceled, and nothing is signed.'}
          </p>
          {reasons.map((text) => (
            <p key={text} class="muted">
              {text}
            </p>
          ))}
          <label>
            Reason, for the sender and the record
            <textarea
              rows={2}
              maxLength={500}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </label>
        </ActionDialog>
      )}
    </>
  )
}
