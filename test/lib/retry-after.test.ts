import { expect, test } from 'vitest'
import { readRetryAfter } from '../../src/lib/retry-after.ts'

const NOW = Date.parse('Fri, 20 Nov 2026 12:00:00 GMT')

test.each([
  { header: '0', want: 0 },
  { header: '120', want: 120_000 },
  { header: ' 1.5 ', want: 1_500 },
  { header: 'Fri, 20 Nov 2026 12:00:30 GMT', want: 30_000 },
  { header: 'Fri, 20 Nov 2026 11:00:00 GMT', want: 0 },
  { header: '-5', want: undefined },
  { header: 'soon', want: undefined },
  { header: '1e3', want: undefined },
  { header: '', want: undefined },
  { header: null, want: undefined },
])('Retry-After: $header is $want ms', ({ header, want }) => {
  expect(readRetryAfter(header, NOW)).toBe(want)
})
