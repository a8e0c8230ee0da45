import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { faultOf, isAbout } from './fields.ts'
import { FaultContext } from './form.tsx'
import { Failure } from './notice.tsx'

interface ActionDialogProps {
  readonly title: string
  /** The words of the button that does it, such as `Cancel the transaction`. */
  readonly confirm: string
  readonly isDangerous?: boolean
  /** False while something is missing, so that nothing can be confirmed. */
  readonly isReady?: boolean
  readonly act: () => Promise<unknown>
  readonly onDone: () => void
  readonly onClose: () => void
  /** Says what will happen, or asks for what is needed. */
  readonly children: ComponentChildren
}

/**
 * Asks before something changes, and says why it failed: at the field that the service names, or else below all. The element of the browser keeps
 * the focus inside and closes with Escape.
 */
export function ActionDialog(props: ActionDialogProps) {
  const { title, confirm, isDangerous = false, isReady = true, act, onDone, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const [isActing, setActing] = useState(false)
  const [error, setError] = useState<unknown>()
  useEffect(() => dialog.current?.showModal(), [])
  const fault = faultOf(error)
  const field = fault && fieldsOf(dialog.current).find(({ name }) => isAbout(fault, name))
  useEffect(() => field?.focus(), [error])
  const run = async () => {
    setActing(true)
    setError(undefined)
    try {
      await act()
      onDone()
      onClose()
    } catch (failure) {
      setError(failure)
      setActing(false)
    }
  }
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <h2 id={titleId}>{title}</h2>
        <div class="dialog-body">
          <FaultContext.Provider value={fault}>{children}</FaultContext.Provider>
        </div>
        {error !== undefined && field === undefined && <Failure error={error} />}
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={isActing || !isReady}>
            {confirm}
          </button>
        </div>
      </form>
    </dialog>
  )
}

type NamedControl = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** The longest name first: a fault of `config.key` is about this field, and not about one that holds all of `config`. */
function fieldsOf(dialog: HTMLDialogElement | null): readonly NamedControl[] {
  const found = dialog?.querySelectorAll<NamedControl>('[name]') ?? []
  return [...found]
    .filter(({ name }) => name !== '')
    .sort((one, other) => other.name.length - one.name.length)
}
