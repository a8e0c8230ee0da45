import { useEffect } from 'preact/hooks'
import { useLoad } from '../../live/use-load.ts'
import { Page, Panel } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { useTransactionColumns } from '../../parts/transaction-columns.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import type { Route } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { type Found, find } from './find.ts'

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
      <Panel title="Results">
        <WhenLoaded loaded={found}>
          {(results) =>
            results.length === 0 ? (
              <p class="muted">No results that this key may see.</p>
            ) : (
              <Results of={results} />
            )
          }
        </WhenLoaded>
      </Panel>
    </Page>
  )
}

/** Transactions are shown as in a list: an id alone does not tell which one it is. */
function Results({ of: results }: { readonly of: readonly Found[] }) {
  const columns = useTransactionColumns({ namesRelayer: true })
  const others = results.filter(({ transaction }) => transaction === undefined)
  const transactions = results.flatMap(({ transaction }) => transaction ?? [])
  return (
    <>
      {others.length > 0 && (
        <ul class="found">
          {others.map(({ kind, name, href }) => (
            <li key={href}>
              <span class="muted">{kind}</span> <a href={href}>{name}</a>
            </li>
          ))}
        </ul>
      )}
      {transactions.length > 0 && (
        <Table
          caption="Transactions"
          empty=""
          columns={columns}
          keyOf={({ id }) => id}
          rows={[...new Map(transactions.map((one) => [one.id, one])).values()]}
        />
      )}
    </>
  )
}
