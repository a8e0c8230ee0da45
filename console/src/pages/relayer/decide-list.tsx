import { useState } from 'preact/hooks'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { FieldError } from '../../parts/fields.ts'
import { FileField, useFields } from '../../parts/form.tsx'
import { useOffers, useWorkplace } from '../../session/session-context.ts'
import { decisionsIn } from './decisions-in.ts'

interface DecideListProps {
  readonly relayer: Schemas['Relayer']
  readonly onDone: () => void
}

/** Applies a reviewed list of decisions after a restore, while the relayer signs nothing. */
export function DecideListButton({ relayer: { id, paused, system_disabled }, onDone }: DecideListProps) {
  const offers = useOffers()
  const [isOpen, setOpen] = useState(false)
  if (!offers('relayers:admin') || !(paused || system_disabled)) return null
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Decide from a list
      </button>
      {isOpen && <DecideListDialog id={id} onDone={onDone} onClose={() => setOpen(false)} />}
    </>
  )
}

interface DialogProps {
  readonly id: string
  readonly onDone: () => void
  readonly onClose: () => void
}

function DecideListDialog({ id, onDone, onClose }: DialogProps) {
  const { client } = useWorkplace().session
  const fields = useFields()
  const text = fields.text('decisions')
  const act = async () => {
    const { failures } = await client.transactions.decideMany(id, { decisions: decisionsIn(text ?? '', id) })
    onDone()
    if (failures.length > 0)
      throw new FieldError(
        'decisions',
        failures.map(({ transaction_id, error }) => `${transaction_id}: ${error}`).join(' '),
      )
  }
  return (
    <ActionDialog
      title="Decide from a list"
      confirm="Decide them"
      isDangerous
      isReady={text !== undefined}
      act={act}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        The file is one that <code>relayer restore check --out</code> wrote and that you have reviewed.
        Entries of other relayers, those without a decision, and those to be canceled are left out: cancel
        them here.
      </p>
      <FileField fields={fields} path="decisions" label="List" accept=".json" isRequired />
    </ActionDialog>
  )
}
