import type { ComponentChildren } from 'preact'
import type { Schemas } from '../../../clients/typescript/src/index.ts'
import type { Currency } from '../format/amounts.ts'
import { Amount } from '../parts/amount.tsx'
import { Facts } from '../parts/facts.tsx'

type Rules = Schemas['SpendingRules']
type Limit = Schemas['SpendingLimit']

interface RulesFactsProps {
  readonly rules: Rules
  /** The currency of an amount on a network, by its id; undefined for amounts that hold on several networks. */
  readonly currencyOf: (network: string | undefined) => Currency | undefined
}

/** Each rule of the contract by its label: one that is not shown does not compile. */
type RuleFacts = { readonly [Name in keyof Rules]-?: readonly [label: string, shown: ComponentChildren] }

/** Says in rows what may be spent. */
export function RulesFacts({ rules, currencyOf }: RulesFactsProps) {
  const { receivers, contracts, selectors, operations, assets, limits, hours } = rules
  const { user_limits: ofUsers, require_approval: approval, idempotency, signatures } = rules
  const amount = (one: AssetAmountProps['of']) => <AssetAmount of={one} currencyOf={currencyOf} />
  const days = hours?.days ? `, ${hours.days.join(', ')}` : ''
  const facts: RuleFacts = {
    receivers: ['Receivers', receivers && <Names of={receivers} />],
    contracts: ['Contracts', contracts && <Names of={contracts} />],
    selectors: ['Functions', selectors && <Names of={selectors} />],
    operations: ['Operations', operations && <Names of={operations} />],
    assets: ['Assets', assets && <Names of={assets} />],
    limits: ['Limits', limitsIn(limits, amount)],
    user_limits: ['Limits of each user', limitsIn(ofUsers, amount)],
    require_approval: ['Approval', approval && approvalIn(approval, amount)],
    hours: ['Hours', hours && `${hours.from} to ${hours.to} UTC${days}`],
    idempotency: ['Idempotency key', idempotency === 'required' ? 'required' : undefined],
    signatures: ['Signatures', signatures === 'any' ? 'also those whose effects cannot be read' : undefined],
  }
  return <Facts facts={Object.fromEntries(Object.values(facts))} />
}

const toText = (_name: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

type ShowAmount = (one: AssetAmountProps['of']) => ComponentChildren

function limitsIn(limits: readonly Limit[] = [], amount: ShowAmount): ComponentChildren {
  if (limits.length === 0) return undefined
  return limits.map((limit) => <div key={JSON.stringify(limit, toText)}>{limitIn(limit, amount)}</div>)
}

const PERIODS: Readonly<Record<Limit['per'], string>> = {
  transaction: 'a transaction',
  hour: 'an hour',
  day: 'a day',
  month: '30 days',
}

function limitIn({ per, asset, network, value, fees, count }: Limit, amount: ShowAmount) {
  const on = { ...(network !== undefined && { network }) }
  return (
    <>
      {value !== undefined && <>{amount({ ...on, ...(asset !== undefined && { asset }), value })} </>}
      {fees !== undefined && <>{amount({ ...on, value: fees })} of fees </>}
      {count !== undefined && <>{count} transactions </>}
      <span class="muted">
        in {PERIODS[per]}
        {network && ` on ${network}`}
      </span>
    </>
  )
}

function approvalIn(
  { above, new_receivers, expires_after_seconds: seconds }: NonNullable<Rules['require_approval']>,
  amount: ShowAmount,
) {
  return (
    <>
      {above?.map((one) => (
        <div key={JSON.stringify(one, toText)}>
          above {amount(one)}
          {one.network && <span class="muted"> on {one.network}</span>}
        </div>
      ))}
      {new_receivers && <div>for new receivers</div>}
      {!above && !new_receivers && <div>for every transaction</div>}
      {seconds !== undefined && <div class="why">within {seconds} s</div>}
    </>
  )
}

interface AssetAmountProps {
  readonly of: {
    readonly asset?: string | undefined
    readonly network?: string | undefined
    readonly value: string | number | bigint
  }
  readonly currencyOf: RulesFactsProps['currencyOf']
}

/** An amount of unknown decimals is shown in the smallest unit. */
function AssetAmount({ of: { asset = 'native', network, value }, currencyOf }: AssetAmountProps) {
  const currency = asset === 'native' ? currencyOf(network) : undefined
  if (currency) return <Amount of={BigInt(value)} currency={currency} isExact />
  return (
    <>
      {BigInt(value).toLocaleString('en')} <span class="muted">smallest units of {asset}</span>
    </>
  )
}

/** A list of names; only an empty one needs words. */
export function Names({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <>none</>
  return (
    <>
      {of.map((name) => (
        <div key={name}>
          <code>{name}</code>
        </div>
      ))}
    </>
  )
}
