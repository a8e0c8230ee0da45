import { expect, test } from 'vitest'
import { readRetryAfter } from '../../src/lib/http/http-client.ts'

const NOW = Date.parse('Fri, 20 Nov 2026 12:00:00 GMT')
const DAY = 86_400_000

test.each([
  { header: '0', want: 0 },
  { header: ' 120 ', want: 120_000 },
  { header: 'Fri, 20 Nov 2026 12:00:30 GMT', want: 30_000 },
  { header: 'Friday, 20-Nov-26 12:00:30 GMT', want: 30_000 },
  { header: 'Fri Nov 20 12:00:30 2026', want: 30_000 },
  { header: 'Fri, 20 Nov 2026 11:00:00 GMT', want: 0 },
  { header: '99999999999999999999', want: DAY },
  { header: 'Fri, 20 Nov 2037 11:00:00 GMT', want: DAY },
  { header: 'Fri, 99 Nov 2026 12:00:30 GMT', want: undefined },
  { header: 'Fri, 20 Nov 2026 12:00:30 +0200', want: undefined },
  { header: 'Nov 20 2026', want: undefined },
  { header: '1.5', want: undefined },
  { header: '-5', want: undefined },
  { header: 'soon', want: undefined },
  { header: '1e3', want: undefined },
  { header: '', want: undefined },
  { header: undefined, want: undefined },
])('Retry-After: $header is $want ms', ({ header, want }) => {
  expect(readRetryAfter(header, NOW)).toBe(want)
})
