import { hrefOf, type Route } from '../routing/routes.ts'

/** The rows of a page of every list. */
export const ROWS_PER_PAGE = 25

interface Pagination {
  readonly current_page: number
  readonly per_page: number
  readonly total_items: number
}

/** Leads to the pages before and after, and says where in the list this one is. */
export function Pager({
  pagination,
  route,
}: {
  readonly pagination: Pagination | undefined
  readonly route: Route
}) {
  if (pagination === undefined || pagination.total_items <= pagination.per_page) return null
  const { current_page: page, per_page: size, total_items: total } = pagination
  const last = Math.ceil(total / size)
  const hrefOfPage = (number: number) => hrefOf(route.path, { ...route.query, page: String(number) })
  const format = (count: number) => count.toLocaleString('en')
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && <a href={hrefOfPage(1)}>First</a>}
      {page > 1 && <a href={hrefOfPage(page - 1)}>Previous</a>}
      <span>
        {format((page - 1) * size + 1)}–{format(Math.min(page * size, total))} of {format(total)}
      </span>
      {page < last && <a href={hrefOfPage(page + 1)}>Next</a>}
      {page < last && <a href={hrefOfPage(last)}>Last</a>}
    </nav>
  )
}

/** Reads the number of the page that a route names: 1 when it names none. */
export function pageOf({ query }: Route): number {
  const page = Number(query.page)
  return Number.isSafeInteger(page) && page > 0 ? page : 1
}
