import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { type Currency, formatGwei, withAmounts } from '../format/amounts.ts'
import type { Loaded } from '../live/use-load.ts'
import { Amount } from './amount.tsx'
import { Facts } from './facts.tsx'
import { Notice } from './notice.tsx'
import { WhenLoaded } from './when-loaded.tsx'

interface DryRunPreviewProps {
  readonly dryRun: Loaded<Schemas['DryRun'] | undefined>
  readonly currency: Currency
  /** What the newest attempt pays for a unit of gas, in wei, for comparison. */
  readonly presentPrice?: string | undefined
  /** Says that the service would do it. */
  readonly accepted?: string
}

/** Shows what the service says would happen, before anything does. */
export function DryRunPreview({ dryRun, ...rest }: DryRunPreviewProps) {
  return <WhenLoaded loaded={dryRun}>{(found) => found && <Preview {...rest} dryRun={found} />}</WhenLoaded>
}

interface PreviewProps extends Omit<DryRunPreviewProps, 'dryRun'> {
  readonly dryRun: Schemas['DryRun']
}

function Preview({
  dryRun,
  currency,
  presentPrice,
  accepted: sentence = 'It would be accepted now.',
}: PreviewProps) {
  const { accepted, error, awaits_approval, value, max_fee, max_cost, max_fee_per_gas, gas_price, rules } =
    dryRun
  const { balance, reserved, simulation } = dryRun
  const price = max_fee_per_gas ?? gas_price
  return (
    <div class="preview">
      {accepted ? (
        <Notice tone={awaits_approval ? 'warn' : 'good'}>
          {awaits_approval ? 'It would be accepted and wait for approval.' : sentence}
        </Notice>
      ) : (
        <Notice tone="bad">It would be refused: {error && withAmounts(error, currency)}</Notice>
      )}
      <Facts
        facts={{
          Moves: value && <Amount of={value} currency={currency} isExact />,
          'Maximum fee': max_fee && <Amount of={max_fee} currency={currency} isExact />,
          Balance: balance && <Amount of={balance} currency={currency} isExact />,
          'Minimum balance left': balance && max_cost && (
            <Amount
              of={BigInt(balance) - BigInt(reserved ?? 0) - BigInt(max_cost)}
              currency={currency}
              isExact
            />
          ),
          'Gas price': price && (
            <>
              {formatGwei(BigInt(price))}
              {presentPrice && <span class="muted"> instead of {formatGwei(BigInt(presentPrice))}</span>}
            </>
          ),
          Simulation: SIMULATIONS[simulation],
          Rules:
            rules.length > 0
              ? rules.map(({ rule, spender, detail }) => <div key={`${spender} ${rule}`}>{detail}</div>)
              : undefined,
        }}
      />
    </div>
  )
}

const SIMULATIONS: Readonly<Record<Schemas['DryRun']['simulation'], string>> = {
  succeeded: 'succeeded',
  refused: 'refused',
  unknown: 'no node answered',
  skipped: 'no node was asked',
}
