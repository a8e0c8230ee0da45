import { useState } from 'preact/hooks'
import { shorten } from '../format/shorten.ts'

interface CopyableProps {
  readonly text: string
  /** What it is, for a screen reader: `address`, `hash`. */
  readonly name: string
  readonly whole?: boolean
}

/** Shows an id, a hash or an address, and a button that copies the whole of it. */
export function Copyable({ text, name, whole = false }: CopyableProps) {
  const [copied, setCopied] = useState(false)
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  return (
    <span class="copyable">
      <code title={text}>{whole ? text : shorten(text)}</code>
      <button
        type="button"
        class="bare"
        aria-label={`Copy the ${name}`}
        onClick={copy}
        onBlur={() => setCopied(false)}
      >
        <CopyIcon isDone={copied} />
      </button>
    </span>
  )
}

function CopyIcon({ isDone }: { readonly isDone: boolean }) {
  return (
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <path d={isDone ? 'M2 7.500 5.500 11 12 3.500' : 'M5 5h7v7H5zM2 9V2h7'} />
    </svg>
  )
}
