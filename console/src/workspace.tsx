import { useEffect, useMemo, useState } from 'preact/hooks'
import { followLive } from './live/live.ts'
import { CurrentPage } from './pages/current-page.tsx'
import { Header } from './parts/header.tsx'
import { Navigation } from './parts/navigation.tsx'
import { useRoute } from './routing/use-route.ts'
import type { Session } from './session/session.ts'
import { WorkplaceContext } from './session/session-context.ts'

interface WorkspaceProps {
  readonly session: Session
  readonly signOut: () => void
}

/** Everything behind the sign-in. Changes are off until the person switches them on, each time the console is opened. */
export function Workspace({ session, signOut }: WorkspaceProps) {
  const live = useMemo(() => followLive(session), [session])
  const [changesAllowed, allowChanges] = useState(false)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const route = useRoute()
  useEffect(() => setMenuOpen(false), [route])
  return (
    <WorkplaceContext.Provider value={{ session, live, changesAllowed, allowChanges, signOut }}>
      <div class={`workspace ${changesAllowed ? 'changes' : ''}`}>
        <button type="button" class="skip" onClick={() => document.querySelector('h1')?.focus()}>
          Skip to content
        </button>
        <Header onMenu={() => setMenuOpen(!isMenuOpen)} />
        <Navigation current={route.path[0] ?? ''} isOpen={isMenuOpen} />
        <main>
          <CurrentPage route={route} />
        </main>
      </div>
    </WorkplaceContext.Provider>
  )
}
