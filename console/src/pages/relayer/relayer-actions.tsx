import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { useWorkplace } from '../../session/session-context.ts'

interface RelayerActionsProps {
  readonly relayer: Schemas['Relayer']
  /** The number of its transactions that no block includes yet. */
  readonly open: number
  readonly onDone: () => void
}

/** What can be done about a relayer. */
export function RelayerActions({ relayer: { id, paused }, open, onDone }: RelayerActionsProps) {
  const { client } = useWorkplace().session
  return (
    <>
      {paused ? (
        <ActionButton
          name="Resume"
          scope="relayers:write"
          act={() => client.relayers.update(id, { paused: false })}
          onDone={onDone}
        >
          <p>The relayer accepts new work again.</p>
        </ActionButton>
      ) : (
        <ActionButton
          name="Pause"
          scope="relayers:write"
          act={() => client.relayers.update(id, { paused: true })}
          onDone={onDone}
        >
          <p>New work is refused. Signed transactions continue, and accepted ones wait.</p>
        </ActionButton>
      )}
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
    </>
  )
}
