import { useLoad } from '../../live/use-load.ts'
import type { Route } from '../../routing/routes.ts'
import { changeQuery } from '../../routing/use-route.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { NETWORK_TYPES, STATUSES, type TransactionFilter } from './filter.ts'

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
      <label>
        Receiver
        <input
          value={filter.to ?? ''}
          placeholder="an account, also of a token"
          spellcheck={false}
          onChange={(event) => changeQuery(route, { to: event.currentTarget.value.trim() })}
        />
      </label>
    </div>
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
