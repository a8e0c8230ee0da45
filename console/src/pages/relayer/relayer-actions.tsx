import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { DecideListButton } from './decide-list.tsx'
import { EditRelayerButton } from './edit-relayer.tsx'

interface RelayerActionsProps {
  readonly relayer: Schemas['Relayer']
  readonly currency: Currency
  /** The number of its transactions that no block includes yet. */
  readonly open: number
  readonly onDone: () => void
}

/** What can be done about a relayer. */
export function RelayerActions({ relayer, currency, open, onDone }: RelayerActionsProps) {
  const { client } = useWorkplace().session
  const { id, paused } = relayer
  return (
    <>
      <EditRelayerButton relayer={relayer} currency={currency} onDone={onDone} />
      {paused ? (
        <ActionButton
          name="Resume"
          scope="relayers:write"
          act={() => client.relayers.update(id, { paused: false })}
          onDone={onDone}
        >
          <p>The relayer accepts transactions again.</p>
        </ActionButton>
      ) : (
        <ActionButton
          name="Pause"
          scope="relayers:write"
          act={() => client.relayers.update(id, { paused: true })}
          onDone={onDone}
        >
          <p>New transactions are refused. Signed ones continue; accepted ones wait.</p>
        </ActionButton>
      )}
      {open > 0 && <DecideListButton relayer={relayer} onDone={onDone} />}
      {open > 0 && (
        <ActionButton
          name="Cancel all waiting"
          scope="transactions:write"
          isDangerous
          act={() => client.transactions.deletePending(id)}
          onDone={onDone}
        >
          <p>
            {open} transactions are open. Unsigned ones end immediately; the others are replaced by a no-op,
            and the network decides. Only transactions sent by this key are canceled.
          </p>
        </ActionButton>
      )}
      <ActionButton
        name="Delete"
        confirm="Delete the relayer"
        scope="relayers:admin"
        isDangerous
        act={() => client.relayers.delete(id)}
        onDone={() => {
          location.hash = hrefOf([])
        }}
      >
        <p>
          Another relayer can then operate its account. The key and the money stay where they are, and its
          transactions come back if a relayer with this id is created again. While a transaction is open, the
          service refuses.
        </p>
      </ActionButton>
    </>
  )
}
