import { nameOfCaller } from '../format/person.ts'
import { useLoad } from '../live/use-load.ts'
import { hrefOf } from '../routing/routes.ts'
import type { Scope } from '../session/session.ts'
import { useWorkplace } from '../session/session-context.ts'
import { ThemeSwitch } from './theme-switch.tsx'

/** A page of the menu, and the scope without which the key has no use for it. */
interface Entry {
  readonly name: string
  readonly path: string
  readonly scope: Scope
}

const ENTRIES: readonly Entry[] = [
  { name: 'Overview', path: '', scope: 'relayers:read' },
  { name: 'Transactions', path: 'transactions', scope: 'transactions:read' },
  { name: 'Approvals', path: 'approvals', scope: 'transactions:read' },
  { name: 'Schedules', path: 'schedules', scope: 'transactions:read' },
  { name: 'Networks', path: 'networks', scope: 'networks:read' },
  { name: 'Signers', path: 'signers', scope: 'signers:read' },
  { name: 'Notifications', path: 'notifications', scope: 'notifications:read' },
  { name: 'Plugins', path: 'plugins', scope: 'plugins:read' },
  { name: 'API keys', path: 'api-keys', scope: 'api-keys:read' },
  { name: 'Proposals', path: 'proposals', scope: 'api-keys:admin' },
  { name: 'Sessions', path: 'sessions', scope: 'api-keys:read' },
  { name: 'Audit log', path: 'audit', scope: 'audit:read' },
]

/** Leads to the pages that the key can read. */
export function Navigation({ current, isOpen }: { readonly current: string; readonly isOpen: boolean }) {
  const { session, signOut } = useWorkplace()
  const { value: version } = useLoad((signal) => session.client.health.getVersion({ signal }), ['version'])
  return (
    <nav class={`navigation ${isOpen ? 'open' : ''}`} aria-label="Pages of the console">
      <ul>
        {ENTRIES.filter(({ scope }) => session.may(scope)).map(({ name, path }) => (
          <li key={path}>
            <a
              href={hrefOf(path ? [path] : [])}
              {...(current === path && { 'aria-current': 'page' as const })}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
      <p class="signed-in">
        <a href={hrefOf(['key'])} {...(current === 'key' && { 'aria-current': 'page' as const })}>
          {nameOfCaller(session.key.id, session.key.person)}
        </a>
        <button type="button" class="quiet" onClick={signOut}>
          Sign out
        </button>
        <ThemeSwitch />
      </p>
      {version && <p class="muted">Version {version.version}</p>}
    </nav>
  )
}
