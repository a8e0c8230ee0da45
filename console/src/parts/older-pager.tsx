import { hrefOf, type Route } from '../routing/routes.ts'
import type { Session } from '../session/session.ts'
import { useWorkplace } from '../session/session-context.ts'

/** The page from which "Older" led to a page, by their addresses. Such a list leads on and never back, so the console has to remember it. */
const newerPages = new WeakMap<Session, Map<string, string>>()

interface OlderPagerProps {
  readonly route: Route
  /** The parameter of the query that names a page. */
  readonly name: 'cursor' | 'before'
  /** The value of the parameter for the page after this one; none at the end of the list. */
  readonly next: string | null | undefined
}

/** Leads through a list whose pages have no numbers: on, back over the pages that were seen, and to its beginning. */
export function OlderPager({ route, name, next }: OlderPagerProps) {
  const { session } = useWorkplace()
  const hrefOfPage = (value: string | undefined) => hrefOf(route.path, { ...route.query, [name]: value })
  const present = route.query[name]
  const here = hrefOfPage(present)
  const older = next ? hrefOfPage(next) : undefined
  const known = newerPagesOf(session)
  const newer = known.get(here)
  return (
    <nav class="pager" aria-label="Pages">
      {present && <a href={hrefOfPage(undefined)}>Newest</a>}
      {newer && <a href={newer}>Newer</a>}
      {older && (
        <a href={older} onClick={() => known.set(older, here)}>
          Older
        </a>
      )}
    </nav>
  )
}

function newerPagesOf(session: Session): Map<string, string> {
  const known = newerPages.get(session) ?? new Map<string, string>()
  newerPages.set(session, known)
  return known
}
