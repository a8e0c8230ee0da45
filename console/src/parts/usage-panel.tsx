import type { Schemas } from '../../../clients/typescript/src/index.ts'
import type { Loaded } from '../live/use-load.ts'
import { Panel } from './page.tsx'
import { type Column, Table } from './table.tsx'
import { WhenLoaded } from './when-loaded.tsx'

type Limit = Schemas['SpendingUsage']['limits'][number]
type LimitedAmount = NonNullable<Limit['value']>

const COLUMNS: readonly Column<Limit>[] = [
  { name: 'Period', cell: ({ per }) => per },
  { name: 'Network', cell: ({ network }) => network },
  { name: 'Asset', isExtra: true, cell: ({ asset }) => asset },
  { name: 'Value', isNumber: true, cell: ({ value }) => <Spent amount={value} name="value" /> },
  { name: 'Fees', isNumber: true, cell: ({ fees }) => <Spent amount={fees} name="fees" /> },
  { name: 'Count', isNumber: true, cell: ({ count }) => <Spent amount={count} name="count" /> },
]

/** Shows what was spent of each limit, in the smallest unit of its asset, as the rules have it. */
export function UsagePanel({ usage }: { readonly usage: Loaded<Schemas['SpendingUsage'] | undefined> }) {
  return (
    <Panel title="Limits">
      <WhenLoaded loaded={usage}>
        {(found) => (
          <Table
            caption="Limits"
            columns={COLUMNS}
            rows={found?.limits ?? []}
            keyOf={({ rule, network, asset }) => `${rule} ${network} ${asset}`}
            empty="No limits per period."
          />
        )}
      </WhenLoaded>
    </Panel>
  )
}

function Spent({ amount, name }: { readonly amount: LimitedAmount | undefined; readonly name: string }) {
  if (amount === undefined) return <span class="muted">–</span>
  const { limit, spent, left } = amount
  const share = BigInt(limit) === 0n ? 100 : Number((BigInt(spent) * 100n) / BigInt(limit))
  return (
    <>
      <meter
        min={0}
        max={100}
        high={80}
        value={Math.min(share, 100)}
        aria-label={`${share} % of the ${name} limit used`}
      />{' '}
      <span title={`${spent} of ${limit}; ${left} left`}>{share} %</span>
    </>
  )
}
