import type { Transaction } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { ContentDetails } from '../../parts/content.tsx'
import { DryRunPreview } from '../../parts/dry-run-preview.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { cancellationOf, type EvmTransaction, priceOf, speedUpOf } from './replacement.ts'
import { useDryRun } from './use-dry-run.ts'

/** What every dialog about a transaction needs. */
export interface ChangeDialogProps<Kind = Transaction> {
  readonly transaction: Kind
  readonly currency: Currency
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks whether to send the same content again for more. */
export function SpeedUpDialog({ transaction, currency, ...rest }: ChangeDialogProps<EvmTransaction>) {
  const { client } = useWorkplace().session
  const request = speedUpOf(transaction)
  const dryRun = useDryRun(transaction, request)
  return (
    <ActionDialog
      {...rest}
      title="Speed up"
      confirm="Speed it up"
      isReady={dryRun.value?.accepted === true}
      act={() => client.transactions.replace(transaction.relayer_id, transaction.id, request)}
    >
      <p>
        The same transaction is signed again with the same nonce at the “fastest” price. The network includes
        one of the two.
      </p>
      <ContentDetails transaction={transaction} currency={currency} />
      <DryRunPreview dryRun={dryRun} currency={currency} presentPrice={priceOf(transaction)} />
    </ActionDialog>
  )
}

/** Asks whether to call a transaction off. */
export function CancelDialog({ transaction, currency, ...rest }: ChangeDialogProps) {
  const { client } = useWorkplace().session
  const isSigned = transaction.hash !== undefined
  const isPriced = isSigned && transaction.network_type === 'evm'
  const dryRun = useDryRun(transaction, isPriced ? cancellationOf(transaction) : undefined)
  return (
    <ActionDialog
      {...rest}
      title="Cancel"
      confirm="Cancel the transaction"
      isDangerous
      act={() => client.transactions.cancel(transaction.relayer_id, transaction.id)}
    >
      <ContentDetails transaction={transaction} currency={currency} />
      {isSigned ? (
        <p>
          It may already be broadcast, so a no-op transaction competes with it. The network includes one of
          the two.
        </p>
      ) : (
        <p>It is not signed yet, so it is canceled immediately at no cost.</p>
      )}
      {isPriced && <DryRunPreview dryRun={dryRun} currency={currency} presentPrice={priceOf(transaction)} />}
    </ActionDialog>
  )
}
