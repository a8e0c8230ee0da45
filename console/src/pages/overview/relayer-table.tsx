import { type Currency, withAmounts } from '../../format/amounts.ts'
import { shorten } from '../../format/shorten.ts'
import type { Networks } from '../../live/use-networks.ts'
import { Age } from '../../parts/age.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import type { Order } from '../../parts/order.ts'
import { Status } from '../../parts/status.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { hrefOf, hrefOfRelayer } from '../../routing/routes.ts'
import type { RelayerRow } from './order-relayers.ts'
import { queueOf } from './relayer-health.ts'

interface RelayerTableProps {
  readonly rows: readonly RelayerRow[]
  readonly networks: Networks
  readonly order: Order
  readonly onOrder: (order: Order) => void
}

/** The relayers of the overview. */
export function RelayerTable({ rows, networks, order, onOrder }: RelayerTableProps) {
  const columns: readonly Column<RelayerRow>[] = [
    {
      name: 'Relayer',
      cell: ({ relayer: { id, name } }) => (
        <>
          <a href={hrefOfRelayer(id)}>{name}</a>{' '}
          {id !== name && (
            <code class="muted extra" title={id}>
              {shorten(id)}
            </code>
          )}
        </>
      ),
    },
    {
      name: 'Health',
      cell: ({ health, relayer }) => <Health {...health} currency={networks.currencyOf(relayer)} />,
    },
    {
      name: 'Balance',
      isNumber: true,
      cell: ({ relayer, status }) => <Amount of={status?.balance} currency={networks.currencyOf(relayer)} />,
    },
    {
      name: 'Queue',
      isNumber: true,
      cell: ({ relayer: { id }, status }) => (
        <>
          <a
            href={hrefOf(['transactions'], { relayer: id })}
            aria-label={`Transactions of ${id}: ${queueOf(status) ?? 'unknown'}`}
          >
            {queueOf(status) ?? '–'}
          </a>
          {status?.deferred_transactions_count && (
            <div class="why" title="Waiting for approval or for their scheduled time.">
              and {status.deferred_transactions_count} for later
            </div>
          )}
        </>
      ),
    },
    {
      name: 'Oldest',
      isNumber: true,
      cell: ({ status }) => <Age of={status?.oldest_pending_transaction_timestamp} />,
    },
    { name: 'Network', isExtra: true, cell: ({ relayer }) => relayer.network },
    {
      name: 'Address',
      isExtra: true,
      cell: ({ relayer }) => <Copyable text={relayer.address} name="address" />,
    },
  ]
  return (
    <Table
      caption="Relayers"
      columns={columns}
      rows={rows}
      keyOf={({ relayer }) => relayer.id}
      empty="No matching relayers."
      order={order}
      onOrder={onOrder}
    />
  )
}

type HealthProps = RelayerRow['health'] & { readonly currency: Currency }

function Health({ word, tone, why, currency }: HealthProps) {
  return (
    <>
      <Status value={word} tone={tone} />
      {why && <div class="why">{withAmounts(why, currency)}</div>}
    </>
  )
}
