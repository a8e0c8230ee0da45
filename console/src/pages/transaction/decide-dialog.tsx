import type { Transaction } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { ContentDetails } from '../../parts/content.tsx'
import { SelectField, TextField, useFields } from '../../parts/form.tsx'
import { useWorkplace } from '../../session/session-context.ts'

interface DecideDialogProps {
  readonly transaction: Transaction
  readonly currency: Currency
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks what happened to a transaction that the service cannot know about. */
export function DecideDialog({ transaction, currency, ...rest }: DecideDialogProps) {
  const { client } = useWorkplace().session
  const fields = useFields({ included: '' })
  const included = fields.values.included === 'true'
  const hash = included ? fields.text('hash') : undefined
  const reason = fields.text('reason')
  const act = () =>
    client.transactions.decide(transaction.relayer_id, transaction.id, {
      included,
      reason: reason ?? '',
      ...(hash !== undefined && { hash }),
    })
  return (
    <ActionDialog
      {...rest}
      title="Decide"
      confirm="Decide it"
      isDangerous
      isReady={fields.values.included !== '' && reason !== undefined}
      act={act}
    >
      <ContentDetails transaction={transaction} currency={currency} />
      <p>
        Look it up in a block explorer first. A wrong decision means that the transaction is paid twice, or
        not at all.
      </p>
      <SelectField
        fields={fields}
        path="included"
        label="Outcome on the chain"
        isRequired
        of={[
          ['', 'Choose'],
          ['true', 'It was included'],
          ['false', 'It was not included'],
        ]}
      />
      {included && (
        <TextField
          fields={fields}
          path="hash"
          label="Hash"
          hint="As shown by the explorer. Leave empty for the newest signed version, or for none if nothing was signed here."
        />
      )}
      <TextField fields={fields} path="reason" label="Reason" isRequired />
    </ActionDialog>
  )
}
