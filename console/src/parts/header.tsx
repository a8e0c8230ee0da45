import { useEffect, useRef } from 'preact/hooks'
import { useLiveState } from '../live/use-live.ts'
import { hrefOf } from '../routing/routes.ts'
import { useWorkplace } from '../session/session-context.ts'
import { isTyping } from './is-typing.ts'

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

/** Finds by id, hash or address. `/` leads here from anywhere but another field, and what is typed replaces the last search. */
function SearchBox() {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event.target)) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
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
          if (!text) return
          // The page that comes takes the focus, and takes it from no one who still types.
          input.current?.blur()
          location.hash = hrefOf(['search'], { q: text })
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
  const { may } = useWorkplace().session
  const [tone, words] = LIVE[useLiveState()]
  return (
    <span class={`status live ${tone}`} role="status">
      {words}
      {!may('events:read') && ': the key lacks events:read'}
    </span>
  )
}
