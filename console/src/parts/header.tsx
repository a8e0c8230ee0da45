import { useEffect, useRef } from 'preact/hooks'
import { useLiveState } from '../live/use-live.ts'
import { hrefOf } from '../routing/routes.ts'
import { useWorkplace } from '../session/session-context.ts'

/** The line above every page. */
export function Header({ onMenu }: { readonly onMenu: () => void }) {
  const { session, changesAllowed, allowChanges } = useWorkplace()
  const writes = session.key.scopes.some((scope) => !scope.endsWith(':read'))
  return (
    <header class="header">
      <button type="button" class="menu quiet" onClick={onMenu} aria-label="Menu">
        ☰
      </button>
      <a class="brand" href={hrefOf([])}>
        Relayer
      </a>
      <SearchBox />
      <LiveDot />
      {writes && (
        <label class={`switch ${changesAllowed ? 'on' : ''}`}>
          <input
            type="checkbox"
            role="switch"
            checked={changesAllowed}
            aria-checked={changesAllowed}
            onChange={(event) => allowChanges(event.currentTarget.checked)}
          />
          Allow changes
        </label>
      )}
    </header>
  )
}

/** Finds by id, hash or address. `/` leads here from anywhere but another field. */
function SearchBox() {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog')
      if (event.key !== '/' || isTyping) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const text = input.current?.value.trim()
          if (text) location.hash = hrefOf(['search'], { q: text })
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label="Search by id, hash or address"
          placeholder="Search by id, hash or address ( / )"
          autocomplete="off"
          spellcheck={false}
        />
      </form>
    </search>
  )
}

const LIVE = {
  connecting: ['busy', 'Connecting'],
  live: ['good', 'Live'],
  reconnecting: ['warn', 'Reconnecting'],
  off: ['idle', 'Not live'],
} as const

function LiveDot() {
  const [tone, words] = LIVE[useLiveState()]
  return (
    <span class={`status live ${tone}`} role="status">
      {words}
    </span>
  )
}
