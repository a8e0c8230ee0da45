import { useState } from 'preact/hooks'
import type { Transaction } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { useOffers } from '../../session/session-context.ts'
import { CancelDialog, SpeedUpDialog } from './change-dialogs.tsx'
import { DecideDialog } from './decide-dialog.tsx'
import { ReplaceDialog } from './replace-dialog.tsx'

/** Statuses in which a transaction can still become another one. */
const REPLACEABLE: readonly string[] = ['pending', 'sent', 'submitted']

interface TransactionActionsProps {
  readonly transaction: Transaction
  readonly currency: Currency
  /** The name of its network. */
  readonly network: string
  /** Its relayer is paused or disabled, so that nothing signs it. */
  readonly isStopped: boolean
  readonly onDone: () => void
}

/** What can be done about a transaction by this key, while it can still be changed. */
export function TransactionActions({
  transaction,
  currency,
  network,
  isStopped,
  onDone,
}: TransactionActionsProps) {
  const offers = useOffers()
  const [open, setOpen] = useState<'speed-up' | 'replace' | 'cancel' | 'decide'>()
  if (!REPLACEABLE.includes(transaction.status)) return null
  const rest = { currency, onDone, onClose: () => setOpen(undefined) }
  const isEvm = transaction.network_type === 'evm'
  const isUnknown =
    transaction.undecided_since !== undefined || (transaction.status === 'pending' && isStopped)
  const decide = offers('relayers:admin') && isUnknown && (
    <>
      <button type="button" onClick={() => setOpen('decide')}>
        Decide
      </button>
      {open === 'decide' && <DecideDialog transaction={transaction} {...rest} />}
    </>
  )
  if (!offers('transactions:write')) return decide || null
  return (
    <>
      {decide}
      {isEvm && transaction.hash && !transaction.awaits_approval && (
        <button type="button" onClick={() => setOpen('speed-up')}>
          Speed up
        </button>
      )}
      {!transaction.awaits_approval && !transaction.awaits_transaction && (
        <button type="button" onClick={() => setOpen('replace')}>
          Replace
        </button>
      )}
      <button type="button" class="danger" onClick={() => setOpen('cancel')}>
        Cancel
      </button>
      {open === 'speed-up' && isEvm && <SpeedUpDialog transaction={transaction} {...rest} />}
      {open === 'replace' && <ReplaceDialog transaction={transaction} network={network} {...rest} />}
      {open === 'cancel' && <CancelDialog transaction={transaction} {...rest} />}
    </>
  )
}
