import { defineConfig } from 'vitest/config'
import { LONG_TESTS } from './vitest.long-tests.ts'
import { SHARING_RUN } from './vitest.shared.ts'

/** `LONG_TESTS` alone, as `npm test` would run them. CI runs `npm run test:long`. */
export default defineConfig({
  test: { ...SHARING_RUN, include: [...LONG_TESTS] },
})
