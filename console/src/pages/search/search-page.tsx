import { useEffect } from 'preact/hooks'
import { useLoad } from '../../live/use-load.ts'
import { Page, Panel } from '../../parts/page.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import type { Route } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { find } from './find.ts'

/** What a search has found. A single result opens at once. */
export function SearchPage({ route: { query } }: { readonly route: Route }) {
  const { session } = useWorkplace()
  const { q: text = '' } = query
  const found = useLoad((signal) => find(session, text, signal), [text])
  const [only, ...others] = found.value ?? []
  useEffect(() => {
    // The search itself does not stay in the history, or going back would lead here again.
    if (only && others.length === 0) location.replace(only.href)
  }, [only?.href, others.length])
  return (
    <Page title={`Search: ${text}`}>
      <Panel title="Found">
        <WhenLoaded loaded={found}>
          {(results) =>
            results.length === 0 ? (
              <p class="muted">Nothing visible to this key.</p>
            ) : (
              <ul class="found">
                {results.map(({ kind, name, href }) => (
                  <li key={href}>
                    <span class="muted">{kind}</span> <a href={href}>{name}</a>
                  </li>
                ))}
              </ul>
            )
          }
        </WhenLoaded>
      </Panel>
    </Page>
  )
}
