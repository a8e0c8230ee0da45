import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Scope } from '../session/session.ts'
import { useOffers } from '../session/session-context.ts'
import { ActionDialog } from './action-dialog.tsx'

interface ActionButtonProps {
  /** The word on the button, and the title of the question. */
  readonly name: string
  /** The scope without which the button is not there. */
  readonly scope: Scope
  readonly confirm?: string
  readonly isDangerous?: boolean
  readonly act: () => Promise<unknown>
  readonly onDone: () => void
  /** Says what will happen. */
  readonly children: ComponentChildren
}

/** A button that asks first. It is there while the key may do it and the person allows changes. */
export function ActionButton({
  name,
  scope,
  confirm = name,
  isDangerous = false,
  act,
  onDone,
  children,
}: ActionButtonProps) {
  const offers = useOffers()
  const [isAsking, setAsking] = useState(false)
  if (!offers(scope)) return null
  return (
    <>
      <button type="button" class={isDangerous ? 'danger' : ''} onClick={() => setAsking(true)}>
        {name}
      </button>
      {isAsking && (
        <ActionDialog
          title={name}
          confirm={confirm}
          isDangerous={isDangerous}
          act={act}
          onDone={onDone}
          onClose={() => setAsking(false)}
        >
          {children}
        </ActionDialog>
      )}
    </>
  )
}

interface DialogButtonProps {
  /** The words on the button. */
  readonly name: string
  readonly scope: Scope
  readonly isPrimary?: boolean
  /** Makes the dialog that the button opens. */
  readonly children: (close: () => void) => ComponentChildren
}

/** A button that opens a form. It is there while the key may do it and the person allows changes. */
export function DialogButton({ name, scope, isPrimary = false, children }: DialogButtonProps) {
  const offers = useOffers()
  const [isOpen, setOpen] = useState(false)
  if (!offers(scope)) return null
  return (
    <>
      <button type="button" class={isPrimary ? 'primary' : ''} onClick={() => setOpen(true)}>
        {name}
      </button>
      {isOpen && children(() => setOpen(false))}
    </>
  )
}
