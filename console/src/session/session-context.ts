import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Live } from '../live/live.ts'
import type { Scope, Session } from './session.ts'

/** What every page works with. */
export interface Workplace {
  readonly session: Session
  readonly live: Live
  /** True while the person has switched "Allow changes" on. */
  readonly changesAllowed: boolean
  readonly allowChanges: (allowed: boolean) => void
  readonly signOut: () => void
}

/** Hands the workplace down to every page. */
export const WorkplaceContext = createContext<Workplace | undefined>(undefined)

/**
 * Returns the workplace.
 *
 * @throws Error outside of a session
 */
export function useWorkplace(): Workplace {
  const workplace = useContext(WorkplaceContext)
  if (workplace === undefined) throw new Error('There is no session here.')
  return workplace
}

/** Returns a function that tells whether an action is offered: the key has its scope, and the person allows changes. */
export function useOffers(): (scope: Scope) => boolean {
  const { session, changesAllowed } = useWorkplace()
  return (scope) => changesAllowed && session.may(scope)
}
