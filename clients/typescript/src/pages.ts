/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The page that the service served, and how many items there are. Absent for lists that continue after an item or with a cursor. */
  readonly pagination?: {
    readonly current_page: number
    readonly per_page: number
    readonly total_items: number
  }
  /** The `cursor` of the next page; null at the end. Absent for other lists. */
  readonly nextCursor?: string | null
}

/**
 * A list that the client loads page by page while you iterate over it. The service counts pages from the beginning of the list, so an item that
 * is added in front meanwhile moves the others, and one of them can come twice. Events, audit entries and
 * searches continue after the last one, and their items come once.
 */
export interface Pages<Item> extends AsyncIterable<Item> {
  /** Loads the one page that the options name. */
  page(): Promise<Page<Item>>
}

/** The query parameter that leads from one page to the next. */
export type Paging = 'page' | 'after' | 'before' | 'cursor'

type Query = Readonly<Record<string, unknown>>

/** As many items as the service puts on a page, because each page is a request. */
const FULL_PAGE = 100

/** Makes the list of a function that loads one page. */
export function createPages<Item>(
  load: (query: Query) => Promise<Page<Item>>,
  { paging, query }: { readonly paging: Paging; readonly query: Query },
): Pages<Item> {
  return {
    page: () => load(query),
    async *[Symbol.asyncIterator]() {
      let next: Query | undefined = { [paging === 'page' ? 'per_page' : 'limit']: FULL_PAGE, ...query }
      while (next !== undefined) {
        const page: Page<Item> = await load(next)
        yield* page.items
        next = following(next, { paging, page })
      }
    },
  }
}

/**
 * Decides how the list continues; undefined at its end. Lists that continue after an item end with an empty page, never with a short one; those
 * with a cursor end where there is none, and can have empty pages before.
 */
function following(
  query: Query,
  {
    paging,
    page: { items, pagination, nextCursor },
  }: { readonly paging: Paging; readonly page: Page<unknown> },
): Query | undefined {
  if (paging === 'cursor') return nextCursor ? { ...query, cursor: nextCursor } : undefined
  const last = items.at(-1) as { readonly number?: string; readonly id?: string } | undefined
  if (last === undefined) return undefined
  if (paging === 'after') return { ...query, after: last.number }
  if (paging === 'before') return { ...query, before: last.id }
  if (pagination === undefined) return undefined
  const { current_page, per_page, total_items } = pagination
  return current_page * per_page < total_items ? { ...query, page: current_page + 1 } : undefined
}
