import type { Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { withAmounts } from '../../format/amounts.ts'
import { nameOfPerson } from '../../format/person.ts'
import { shorten } from '../../format/shorten.ts'
import { forEachAtMost } from '../../live/for-each-at-most.ts'
import { useCurrencies } from '../../live/use-currencies.ts'
import { Age } from '../../parts/age.tsx'
import { ContentSummary } from '../../parts/content.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedTable, usePage } from '../../parts/paged-table.tsx'
import { Status } from '../../parts/status.tsx'
import type { Column } from '../../parts/table.tsx'
import { hrefOfTransaction, type Route } from '../../routing/routes.ts'
import { changeQuery } from '../../routing/use-route.ts'
import type { Session } from '../../session/session.ts'
import { useOffers, useWorkplace } from '../../session/session-context.ts'
import { DecideButtons } from './decide-buttons.tsx'

/** An approval with the transaction that it is about. */
interface Row {
  readonly approval: Schemas['Approval']
  readonly transaction: Transaction | undefined
}

const STATES = ['waiting', 'approved', 'refused', 'expired', 'withdrawn'] as const

/** The most transactions that are asked for at the same time. */
const AT_A_TIME = 5

/** What waits for a decision, and what was decided. */
export function ApprovalsPage({ route }: { readonly route: Route }) {
  const { session } = useWorkplace()
  const offers = useOffers()
  const currencyOf = useCurrencies()
  const state = STATES.find((known) => known === route.query.state) ?? 'waiting'
  const rows = usePage<Row>({
    route,
    keys: [state],
    load: async ({ signal, ...query }) => {
      const page = await session.client.approvals.list({ ...query, state, signal }).page()
      return { ...page, items: await withTransactions(session, page.items, signal) }
    },
    changesWith: ({ type }) => type === 'transaction_update',
  })
  const decide: Column<Row> = {
    name: 'Decide',
    cell: ({ approval, transaction }) =>
      transaction && <DecideButtons approval={approval} transaction={transaction} onDone={rows.reload} />,
  }
  const pays: Column<Row> = {
    name: 'Payment',
    cell: ({ transaction }) =>
      transaction ? (
        <ContentSummary transaction={transaction} currency={currencyOf(transaction)} />
      ) : (
        <span class="muted">–</span>
      ),
  }
  const why: Column<Row> = {
    name: 'Why',
    isExtra: true,
    cell: ({ approval: { reasons }, transaction }) =>
      reasons.map((reason) => (
        <div key={reason} class="why">
          {transaction ? withAmounts(reason, currencyOf(transaction)) : reason}
        </div>
      )),
  }
  const [first, ...others] = COLUMNS
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
        empty={state === 'waiting' ? 'Nothing is waiting for approval.' : `No approval is ${state}.`}
        columns={[first, pays, ...(canDecide ? [decide] : []), why, ...others]}
        keyOf={({ approval }) => approval.transaction_id}
        route={route}
        rows={rows}
      />
    </Page>
  )
}

const COLUMNS: readonly [Column<Row>, ...Column<Row>[]] = [
  {
    name: 'Transaction',
    cell: ({ approval: { relayer_id, transaction_id } }) => (
      <>
        <a class="id" href={hrefOfTransaction(relayer_id, transaction_id)}>
          <code title={transaction_id}>{shorten(transaction_id)}</code>
        </a>
        <div class="why">{relayer_id}</div>
      </>
    ),
  },
  { name: 'State', cell: ({ approval: { state } }) => <Status value={state} /> },
  { name: 'Since', isNumber: true, cell: ({ approval: { created_at } }) => <Age of={created_at} /> },
  {
    name: 'Sent by',
    isExtra: true,
    cell: ({ approval: { requested_by: id, requested_by_person: person } }) =>
      person ? nameOfPerson(person) : id,
  },
  {
    name: 'Decided by',
    isExtra: true,
    cell: ({ approval: { decided_by, decided_by_person: person, decision_reason } }) => (
      <>
        {person ? nameOfPerson(person) : (decided_by ?? '–')}{' '}
        {decision_reason && <div class="why">{decision_reason}</div>}
      </>
    ),
  },
]

/**
 * An approval names its transaction alone, so its content is asked for. One that cannot be read leaves its
 * cell empty.
 */
async function withTransactions(
  { client }: Session,
  approvals: readonly Schemas['Approval'][],
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const found = new Map<string, Transaction>()
  await forEachAtMost(approvals, { limit: AT_A_TIME, signal }, async ({ relayer_id, transaction_id: id }) => {
    const transaction = await client.transactions.get(relayer_id, id, { signal }).catch(() => undefined)
    if (transaction) found.set(id, transaction)
  })
  return approvals.map((approval) => ({ approval, transaction: found.get(approval.transaction_id) }))
}
