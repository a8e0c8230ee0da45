import { useState } from 'preact/hooks'
import { type Currency, formatPlain, parseAmount } from '../../format/amounts.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import type { Route } from '../../routing/routes.ts'
import { changeQuery } from '../../routing/use-route.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { NETWORK_TYPES, STATUSES, type TransactionFilter, unitOf } from './filter.ts'

interface TransactionFiltersProps {
  readonly route: Route
  readonly filter: TransactionFilter
}

/** Chooses which transactions are listed. */
export function TransactionFilters({ route, filter }: TransactionFiltersProps) {
  const { may } = useWorkplace().session
  const relayerProps = {
    chosen: filter.relayer_id ?? '',
    choose: (relayer: string) => changeQuery(route, { relayer }),
  }
  return (
    <div class="filters">
      {may('relayers:read') ? <RelayerChoice {...relayerProps} /> : <RelayerField {...relayerProps} />}
      <Choice
        name="Status"
        of={STATUSES}
        chosen={filter.status}
        choose={(status) => changeQuery(route, { status })}
      />
      <Choice
        name="Network type"
        of={NETWORK_TYPES}
        chosen={filter.network_type}
        choose={(type) => changeQuery(route, { type })}
      />
      <Text
        name="Receiver"
        value={filter.to}
        placeholder="address"
        choose={(to) => changeQuery(route, { to })}
      />
      <Day name="From" value={route.query.from} choose={(from) => changeQuery(route, { from })} />
      <Day name="Until" value={route.query.until} choose={(until) => changeQuery(route, { until })} />
      <MoreFilters route={route} filter={filter} />
    </div>
  )
}

/** The filters that are used less often. They are open while one of them counts. */
function MoreFilters({ route, filter }: TransactionFiltersProps) {
  const { asset, reference, requested_by: key, user_id: user } = filter
  const isUsed = [asset, reference, key, user].some((one) => one !== undefined)
  return (
    <details class="more-filters" open={isUsed}>
      <summary>More filters</summary>
      <div class="filters">
        <AmountFilter route={route} filter={filter} />
        <Text
          name="Reference"
          value={reference}
          placeholder="exact match"
          choose={(text) => changeQuery(route, { reference: text })}
        />
        <Text
          name="API key"
          value={key}
          placeholder="id of the key, root …"
          choose={(id) => changeQuery(route, { key: id })}
        />
        <Text
          name="User"
          value={user}
          placeholder="id of the user"
          choose={(id) => changeQuery(route, { user: id })}
        />
      </div>
    </details>
  )
}

/** Amounts are of one asset, in its coins where the operator or the chain makes its decimals certain. */
function AmountFilter({ route, filter }: TransactionFiltersProps) {
  const { asset, network_type: type, min_amount: least, max_amount: most } = filter
  const { all } = useNetworks()
  const tokens = all.flatMap((network) => network.tokens ?? [])
  const unit = unitOf({ asset, type, tokens })
  const choose = (name: 'min' | 'max') => (text: string) => changeQuery(route, { [name]: text })
  return (
    <>
      <label>
        Asset
        <input
          value={asset ?? ''}
          list="known-assets"
          placeholder="native, or a token's address"
          spellcheck={false}
          onChange={(event) =>
            changeQuery(route, { asset: event.currentTarget.value.trim(), min: undefined, max: undefined })
          }
        />
      </label>
      <datalist id="known-assets">
        <option value="native">the native currency</option>
        {tokens.map(({ address, symbol }) => (
          <option key={address} value={address}>
            {symbol}
          </option>
        ))}
      </datalist>
      {asset !== undefined && (
        <>
          <AmountField name={`Minimum (${unit.symbol})`} value={least} unit={unit} choose={choose('min')} />
          <AmountField name={`Maximum (${unit.symbol})`} value={most} unit={unit} choose={choose('max')} />
        </>
      )}
    </>
  )
}

interface AmountFieldProps {
  readonly name: string
  /** In the smallest unit. */
  readonly value: string | undefined
  readonly unit: Currency
  readonly choose: (units: string) => void
}

function AmountField({ name, value, unit: { decimals }, choose }: AmountFieldProps) {
  const [problem, setProblem] = useState<string>()
  return (
    <label>
      {name}
      <input
        value={value === undefined ? '' : formatPlain(BigInt(value), decimals)}
        inputMode="decimal"
        aria-invalid={problem !== undefined}
        onChange={({ currentTarget: { value: text } }) => {
          const amount = text.trim() === '' ? '' : parseAmount(text, decimals)
          setProblem(typeof amount === 'string' && amount !== '' ? amount : undefined)
          if (amount === '' || typeof amount === 'bigint') choose(String(amount))
        }}
      />
      {problem !== undefined && <span class="why">{problem}</span>}
    </label>
  )
}

interface TextProps {
  readonly name: string
  readonly value: string | undefined
  readonly placeholder: string
  readonly choose: (text: string) => void
}

function Text({ name, value = '', placeholder, choose }: TextProps) {
  return (
    <label>
      {name}
      <input
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        onChange={(event) => choose(event.currentTarget.value.trim())}
      />
    </label>
  )
}

function Day({ name, value = '', choose }: Omit<TextProps, 'placeholder'>) {
  return (
    <label>
      {name}
      <input type="date" value={value} onChange={(event) => choose(event.currentTarget.value)} />
    </label>
  )
}

interface RelayerProps {
  /** The id of the relayer; empty for all. */
  readonly chosen: string
  readonly choose: (id: string) => void
}

function RelayerChoice({ chosen, choose }: RelayerProps) {
  const { client } = useWorkplace().session
  const relayers = useLoad((signal) => Array.fromAsync(client.relayers.list({ signal })), ['relayers'])
  const known = relayers.value ?? []
  const isKnown = chosen === '' || known.some(({ id }) => id === chosen)
  return (
    <label>
      Relayer
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">all</option>
        {!isKnown && <option>{chosen}</option>}
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** For a key that cannot list relayers. */
function RelayerField({ chosen, choose }: RelayerProps) {
  return (
    <label>
      Relayer
      <input
        value={chosen}
        placeholder="all, or the id of one"
        spellcheck={false}
        onChange={(event) => choose(event.currentTarget.value.trim())}
      />
    </label>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly of: readonly string[]
  readonly chosen: string | undefined
  /** Gets an empty text for all. */
  readonly choose: (value: string) => void
}

function Choice({ name, of, chosen = '', choose }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">all</option>
        {of.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </label>
  )
}
