import type { Schemas } from '../../contract/operations.ts'

/** The most records in one page; a larger `per_page` counts as this. */
const MAX_PER_PAGE = 100

/** Computes the page of a query: `page` 0 is page 1, and `pagination` reports the applied values. */
export function toPage({ page = 1, per_page = 10 }: { page?: number; per_page?: number }) {
  const current_page = Math.max(1, page)
  const limit = Math.min(MAX_PER_PAGE, per_page)
  return {
    offset: (current_page - 1) * limit,
    limit,
    describe: (total: number): Schemas['Pagination'] => ({
      current_page,
      per_page: limit,
      total_items: total,
    }),
  }
}
