import type { Page, RelayerEvent } from '../../../clients/typescript/src/index.ts'
import { useLiveReload } from '../live/use-live.ts'
import { type Loaded, useLoad } from '../live/use-load.ts'
import type { Route } from '../routing/routes.ts'
import { Pager, pageOf, ROWS_PER_PAGE } from './pager.tsx'
import { type Column, Table } from './table.tsx'
import { WhenLoaded } from './when-loaded.tsx'

interface PagedTableProps<Row> {
  readonly caption: string
  readonly empty: string
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly route: Route
  readonly rows: Loaded<Page<Row>>
}

/** Shows the page of a list that the service keeps, and leads to the others. However long the list is, only one page of it is loaded. */
export function PagedTable<Row>({ route, rows, ...table }: PagedTableProps<Row>) {
  return (
    <WhenLoaded loaded={rows}>
      {({ items, pagination }) => (
        <>
          <Table {...table} rows={items} />
          <Pager pagination={pagination} route={route} />
        </>
      )}
    </WhenLoaded>
  )
}

interface PageQuery {
  readonly page: number
  readonly per_page: number
  readonly signal: AbortSignal
}

interface PageSource<Row> {
  readonly route: Route
  /** What the list depends on, besides its page. */
  readonly keys: readonly unknown[]
  readonly load: (query: PageQuery) => Promise<Page<Row>>
  /** Events after which the list may look otherwise. */
  readonly changesWith?: (event: RelayerEvent) => boolean
}

/** Loads the page that the route names, and again after events that matter. */
export function usePage<Row>({
  route,
  keys,
  load,
  changesWith = () => false,
}: PageSource<Row>): Loaded<Page<Row>> {
  const page = pageOf(route)
  const rows = useLoad((signal) => load({ page, per_page: ROWS_PER_PAGE, signal }), [...keys, page])
  useLiveReload(changesWith, rows.reload)
  return rows
}
