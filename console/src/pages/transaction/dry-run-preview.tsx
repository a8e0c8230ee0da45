import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Currency, formatGwei } from '../../format/amounts.ts'
import type { Loaded } from '../../live/use-load.ts'
import { Amount } from '../../parts/amount.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Notice } from '../../parts/notice.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'

interface DryRunPreviewProps {
  readonly dryRun: Loaded<Schemas['DryRun'] | undefined>
  readonly currency: Currency
  /** What the newest attempt pays for a unit of gas, in wei, for comparison. */
  readonly presentPrice?: string | undefined
}

/** Shows what the service says would happen, before anything does. */
export function DryRunPreview({ dryRun, currency, presentPrice }: DryRunPreviewProps) {
  return (
    <WhenLoaded loaded={dryRun}>
      {(found) => found && <Preview dryRun={found} currency={currency} presentPrice={presentPrice} />}
    </WhenLoaded>
  )
}

interface PreviewProps extends Omit<DryRunPreviewProps, 'dryRun'> {
  readonly dryRun: Schemas['DryRun']
}

function Preview({ dryRun, currency, presentPrice }: PreviewProps) {
  const { accepted, error, awaits_approval, value, max_fee, max_fee_per_gas, gas_price, simulation, rules } =
    dryRun
  const price = max_fee_per_gas ?? gas_price
  return (
    <div class="preview">
      {accepted ? (
        <Notice tone={awaits_approval ? 'warn' : 'good'}>
          {awaits_approval
            ? 'It would be accepted, and wait for an approval.'
            : 'The service would accept it now.'}
        </Notice>
      ) : (
        <Notice tone="bad">It would be refused: {error}</Notice>
      )}
      <Facts
        facts={{
          Moves: value && <Amount of={value} currency={currency} />,
          'Costs at most': max_fee && <Amount of={max_fee} currency={currency} />,
          'Gas price': price && (
            <>
              {formatGwei(BigInt(price))}
              {presentPrice && <span class="muted"> instead of {formatGwei(BigInt(presentPrice))}</span>}
            </>
          ),
          Simulation: simulation,
          Rules:
            rules.length > 0
              ? rules.map(({ rule, spender, detail }) => <div key={`${spender} ${rule}`}>{detail}</div>)
              : undefined,
        }}
      />
    </div>
  )
}
