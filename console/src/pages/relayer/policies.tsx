import type { ComponentChildren } from 'preact'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Currency, formatGwei } from '../../format/amounts.ts'
import { useLoad } from '../../live/use-load.ts'
import { Amount } from '../../parts/amount.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Json } from '../../parts/json.tsx'
import { Panel } from '../../parts/page.tsx'
import { UsagePanel } from '../../parts/usage-panel.tsx'
import { Names, RulesFacts } from '../../rules/rules-facts.tsx'
import { useWorkplace } from '../../session/session-context.ts'

interface PoliciesProps {
  readonly relayer: Schemas['Relayer']
  readonly currency: Currency
}

/** The policies of a relayer with its rules, and what is left of its limits. */
export function Policies({ relayer: { id, policies }, currency }: PoliciesProps) {
  const { client } = useWorkplace().session
  const { rules, top_up, ...others } = policies
  const usage = useLoad(
    async (signal) => (rules ? await client.relayers.getUsage(id, { signal }) : undefined),
    [id, rules !== undefined],
  )
  return (
    <div>
      <Panel title="Policies">
        {Object.keys(policies).length === 0 ? (
          <p class="muted">Defaults.</p>
        ) : (
          <Facts
            facts={{
              ...Object.fromEntries(
                Object.entries(others).map(([name, value]) => [
                  wordsOf(name),
                  <Policy key={name} name={name} value={value} currency={currency} />,
                ]),
              ),
              'Top-up': top_up && (
                <>
                  from {top_up.from}: to <Amount of={BigInt(top_up.to)} currency={currency} isExact /> when it
                  is below <Amount of={BigInt(top_up.below)} currency={currency} isExact />
                </>
              ),
            }}
          />
        )}
      </Panel>
      {rules && (
        <Panel title="Rules">
          <RulesFacts rules={rules} currencyOf={() => currency} />
        </Panel>
      )}
      {rules && <UsagePanel usage={usage} />}
    </div>
  )
}

/** Policies that are amounts of the native currency. */
const AMOUNTS: readonly string[] = [
  'min_balance',
  'warn_balance',
  'tx_fee_cap',
  'max_fee',
  'max_allowed_fee_lamports',
]

const WORDS: Readonly<Record<string, string>> = {
  gas_price_cap: 'Maximum gas price',
  tx_fee_cap: 'Maximum fee',
  min_balance: 'Minimum balance',
  warn_balance: 'Warn below',
  whitelist_receivers: 'Allowed receivers',
  max_fee: 'Maximum fee',
  max_allowed_fee_lamports: 'Maximum fee',
  wallet_rpc: 'Wallet methods',
  eip1559_pricing: 'EIP-1559 prices',
}

function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return WORDS[name] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

interface PolicyProps {
  readonly name: string
  readonly value: unknown
  readonly currency: Currency
}

function Policy({ name, value, currency }: PolicyProps): ComponentChildren {
  if (AMOUNTS.includes(name)) return <Amount of={String(value)} currency={currency} isExact />
  if (name === 'gas_price_cap') return formatGwei(BigInt(String(value)))
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return <Names of={value.map(String)} />
  return typeof value === 'object' ? <Json value={value} name={wordsOf(name)} /> : String(value)
}
