import { useEffect, useState } from 'preact/hooks'
import { hrefOf, parseRoute, type Route } from './routes.ts'

/** Returns the present route, and again when it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const listener = () => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', listener)
    return () => removeEventListener('hashchange', listener)
  }, [])
  return route
}

/** What names a page of a list, in the lists with numbers, after an entry, and with a cursor. */
const FIRST_PAGE = { page: undefined, before: undefined, cursor: undefined } as const

/** Changes the query of the present route. A filter begins at the first page, unless the change names another. */
export function changeQuery(
  { path, query }: Route,
  change: Readonly<Record<string, string | undefined>>,
): void {
  location.hash = hrefOf(path, { ...query, ...FIRST_PAGE, ...change })
}
