import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { Amount } from '../../parts/amount.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Panel } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import type { Tone } from '../../parts/tone.ts'

type Account = NonNullable<Schemas['RelayerStatus']['accounts']>[number]

const TONES: Readonly<Record<Account['state'], Tone>> = { active: 'good', disabled: 'bad', draining: 'idle' }

interface AccountsProps {
  readonly accounts: readonly Account[]
  readonly currency: Currency
}

/** The accounts of a relayer with several: where its money and its queue are. */
export function AccountsPanel({ accounts, currency }: AccountsProps) {
  const columns: readonly Column<Account>[] = [
    { name: 'Address', cell: ({ address }) => <Copyable text={address} name="address" /> },
    {
      name: 'State',
      cell: ({ state, disabled_reason }) => (
        <span title={disabled_reason?.details}>
          <Status value={state} tone={TONES[state]} />
        </span>
      ),
    },
    { name: 'Balance', cell: ({ balance }) => <Amount of={balance} currency={currency} /> },
    { name: 'Queue', cell: ({ pending_transactions_count: count }) => count, isNumber: true },
    {
      name: 'Signer',
      cell: ({ signer_id, index }) => (index === 0 ? signer_id : `${signer_id}, index ${index}`),
      isExtra: true,
    },
  ]
  return (
    <Panel title="Accounts">
      <Table
        caption="Accounts"
        columns={columns}
        rows={accounts}
        keyOf={({ address }) => address}
        empty="This relayer has one account."
      />
    </Panel>
  )
}
