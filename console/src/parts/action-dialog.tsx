import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
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
  /** Says what will happen. */
  readonly children: ComponentChildren
}

/** Asks before something changes, and says why it failed. The element of the browser keeps the focus inside and closes with Escape. */
export function ActionDialog(props: ActionDialogProps) {
  const { title, confirm, isDangerous = false, isReady = true, act, onDone, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const [isActing, setActing] = useState(false)
  const [error, setError] = useState<unknown>()
  useEffect(() => dialog.current?.showModal(), [])
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
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      <div class="dialog-body">{children}</div>
      {error !== undefined && <Failure error={error} />}
      <div class="dialog-buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
        <button
          type="button"
          class={isDangerous ? 'danger' : 'primary'}
          disabled={isActing || !isReady}
          onClick={run}
        >
          {confirm}
        </button>
      </div>
    </dialog>
  )
}
