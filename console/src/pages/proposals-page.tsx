import { useState } from 'preact/hooks'
import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { nameOfPerson } from '../format/person.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Age } from '../parts/age.tsx'
import { Json } from '../parts/json.tsx'
import { Page } from '../parts/page.tsx'
import { PagedTable, usePage } from '../parts/paged-table.tsx'
import { Status } from '../parts/status.tsx'
import type { Column } from '../parts/table.tsx'
import type { Route } from '../routing/routes.ts'
import { useOffers, useWorkplace } from '../session/session-context.ts'
import { IssuedSecret } from './api-keys/create-api-key.tsx'

type Proposal = Schemas['Proposal']

const SCOPE = 'api-keys:admin'

const COLUMNS: readonly Column<Proposal>[] = [
  {
    name: 'Change',
    cell: ({ operation, target }) => (
      <>
        <code>{operation}</code>
        {target && <div class="why">{target}</div>}
      </>
    ),
  },
  { name: 'Content', cell: ({ change }) => <Content change={change} /> },
  { name: 'State', cell: ({ state }) => <Status value={state} /> },
  { name: 'Since', isNumber: true, cell: ({ created_at }) => <Age of={created_at} /> },
  {
    name: 'Proposed by',
    cell: ({ proposed_by, proposed_by_person: person }) => (person ? nameOfPerson(person) : proposed_by),
  },
  {
    name: 'Decided by',
    isExtra: true,
    cell: ({ decided_by, decided_by_person: person, decision_reason }) => (
      <>
        {person ? nameOfPerson(person) : (decided_by ?? '–')}
        {decision_reason && <div class="why">{decision_reason}</div>}
      </>
    ),
  },
]

/** The changes that wait, or have waited, for a second person. */
export function ProposalsPage({ route }: { readonly route: Route }) {
  const { client, key } = useWorkplace().session
  const [secret, setSecret] = useState<string>()
  const offersDecision = useOffers()(SCOPE)
  const rows = usePage({ route, keys: ['proposals'], load: (query) => client.proposals.list(query).page() })
  const decide = async (id: string, decision: 'approve' | 'refuse') => {
    const { result } = await client.proposals.decide(id, { decision })
    setSecret(secretIn(result))
  }
  const decisions: Column<Proposal> = {
    name: 'Decide',
    cell: ({ id, state, proposed_by }) => {
      if (state !== 'waiting') return null
      if (proposed_by === key.id) return <span class="why">Someone else must decide.</span>
      return (
        <div class="buttons">
          <ActionButton name="Approve" scope={SCOPE} act={() => decide(id, 'approve')} onDone={rows.reload}>
            <p>The change takes effect immediately, with your permissions.</p>
          </ActionButton>
          <ActionButton
            name="Refuse"
            scope={SCOPE}
            isDangerous
            act={() => decide(id, 'refuse')}
            onDone={rows.reload}
          >
            <p>Nothing is changed.</p>
          </ActionButton>
        </div>
      )
    },
  }
  return (
    <Page title="Proposals">
      <PagedTable
        caption="Proposals"
        empty="No changes are waiting for a second person."
        columns={offersDecision ? [...COLUMNS, decisions] : COLUMNS}
        keyOf={({ id }) => id}
        route={route}
        rows={rows}
      />
      {secret !== undefined && (
        <IssuedSecret title="The API key has a secret" secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </Page>
  )
}

function Content({ change }: { readonly change: Proposal['change'] }) {
  return (
    <details>
      <summary>Show</summary>
      <Json value={change} name="Change" />
    </details>
  )
}

/** A new or rotated API key has a secret, which nothing shows again. */
function secretIn(result: unknown): string | undefined {
  const { secret } = Object(result) as { readonly secret?: unknown }
  return typeof secret === 'string' ? secret : undefined
}
