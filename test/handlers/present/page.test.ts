import { expect, test } from 'vitest'
import { toPage } from '../../../src/handlers/present/shared.ts'

test.each([
  { query: {}, offset: 0, limit: 10, shown: { current_page: 1, per_page: 10 } },
  { query: { page: 0 }, offset: 0, limit: 10, shown: { current_page: 1, per_page: 10 } },
  { query: { page: 1 }, offset: 0, limit: 10, shown: { current_page: 1, per_page: 10 } },
  { query: { page: 3, per_page: 7 }, offset: 14, limit: 7, shown: { current_page: 3, per_page: 7 } },
  { query: { per_page: 0 }, offset: 0, limit: 0, shown: { current_page: 1, per_page: 0 } },
  { query: { page: 9, per_page: 0 }, offset: 0, limit: 0, shown: { current_page: 9, per_page: 0 } },
  { query: { per_page: 100 }, offset: 0, limit: 100, shown: { current_page: 1, per_page: 100 } },
  { query: { page: 2, per_page: 101 }, offset: 100, limit: 100, shown: { current_page: 2, per_page: 100 } },
  {
    query: { page: 2_147_483_647, per_page: 100 },
    offset: 214_748_364_600,
    limit: 100,
    shown: { current_page: 2_147_483_647, per_page: 100 },
  },
])('$query is served as $shown', ({ query, offset, limit, shown }) => {
  const page = toPage(query)
  expect({ offset: page.offset, limit: page.limit }).toEqual({ offset, limit })
  expect(page.describe(42)).toEqual({ ...shown, total_items: 42 })
})
