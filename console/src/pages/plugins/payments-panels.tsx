import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { shorten } from '../../format/shorten.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { Age } from '../../parts/age.tsx'
import { Amount } from '../../parts/amount.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Panel } from '../../parts/page.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { useTransactionColumns } from '../../parts/transaction-columns.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { type Payee, payeesIn, type RefusalGroup, refusalsIn } from './payments.ts'

type Plugin = Schemas['Plugin']

/** The newest transactions of which payees are added up: one page of the search. */
const NEWEST = 100

/** The number of those that are listed. A list has the others. */
const LISTED = 10

/**
 * Shows the payments of a plugin and its refusals with their reasons. It shows neither for a plugin that has none.
 */
export function PaymentsPanels({ plugin }: { readonly plugin: Plugin }) {
  const refusals = refusalsIn(plugin.state.logs ?? [])
  return (
    <>
      {useWorkplace().session.may('transactions:read') && <Payments keyId={`plugin.${plugin.id}`} />}
      {refusals.length > 0 && (
        <Panel title="Refusals">
          <Table
            caption="Refusals"
            columns={REFUSAL_COLUMNS}
            rows={refusals}
            keyOf={({ reason }) => reason}
            empty=""
          />
          <p class="muted">Read from the plugin’s log: the newest lines since its process started.</p>
        </Panel>
      )}
    </>
  )
}

const REFUSAL_COLUMNS: readonly Column<RefusalGroup>[] = [
  { name: 'Reason', cell: ({ reason }) => <code>{reason}</code> },
  { name: 'Count', isNumber: true, cell: ({ count }) => count },
  { name: 'Latest', cell: ({ sentence }) => <span class="why">{sentence}</span> },
  { name: 'When', isNumber: true, cell: ({ at }) => <Age of={at} /> },
]

function Payments({ keyId }: { readonly keyId: string }) {
  const { client } = useWorkplace().session
  const columns = useTransactionColumns({ namesRelayer: true })
  const sent = useLoad(
    (signal) => client.transactions.search({ requested_by: keyId, limit: NEWEST, signal }).page(),
    ['payments', keyId],
  )
  return (
    <WhenLoaded loaded={sent}>
      {({ items }) =>
        items.length === 0 ? null : (
          <>
            <Panel title="Payments" actions={<a href={hrefOf(['transactions'], { key: keyId })}>View all</a>}>
              <Table
                caption="Payments"
                columns={columns}
                rows={items.slice(0, LISTED)}
                keyOf={({ id }) => id}
                empty=""
              />
            </Panel>
            <Payees payees={payeesIn(items)} count={items.length} />
          </>
        )
      }
    </WhenLoaded>
  )
}

function Payees({ payees, count }: { readonly payees: readonly Payee[]; readonly count: number }) {
  const networks = useNetworks()
  const relayers = useRelayerNetworks()
  const currencyOf = ({ asset, symbol, decimals, example }: Payee) => {
    if (symbol !== undefined) return { symbol, decimals }
    if (asset !== 'native') return { symbol: `base units of ${shorten(asset)}`, decimals: 0 }
    const { network_type, relayer_id } = example
    return networks.currencyOf({ network: relayers.get(relayer_id) ?? '', network_type })
  }
  const columns: readonly Column<Payee>[] = [
    { name: 'Payee', cell: ({ to }) => <Copyable text={to} name="address" /> },
    { name: 'Payments', isNumber: true, cell: ({ payments }) => payments },
    {
      name: 'Amount',
      isNumber: true,
      cell: (payee) => <Amount of={payee.amount} currency={currencyOf(payee)} />,
    },
  ]
  if (payees.length === 0) return null
  return (
    <Panel title="Payees">
      <Table
        caption="Payees"
        columns={columns}
        rows={payees}
        keyOf={({ to, asset, example }) => `${example.relayer_id} ${to} ${asset}`}
        empty=""
      />
      <p class="muted">Of the newest {count} transactions, without those that failed.</p>
    </Panel>
  )
}

function useRelayerNetworks(): ReadonlyMap<string, string> {
  const { client, may } = useWorkplace().session
  const { value } = useLoad(
    async (signal) => {
      if (!may('relayers:read')) return []
      const relayers = await Array.fromAsync(client.relayers.list({ per_page: 100, signal }))
      return relayers.map(({ id, network }) => [id, network] as const)
    },
    ['networks of relayers'],
  )
  return new Map(value ?? [])
}
