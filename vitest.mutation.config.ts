import { defineConfig } from 'vitest/config'
import { EVERY_RUN } from './vitest.shared.ts'

/** The folders and files of tests that `scripts/mutate.ts` chose. */
const chosen = (process.env.MUTATION_TESTS ?? '').split(',').filter((path) => path !== '')

export default defineConfig({
  test: {
    ...EVERY_RUN,
    include: chosen.map((path) => (path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`)),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    isolate: false,
    env: { ...EVERY_RUN.env, SHARE_TEST_DATABASE: '1' },
  },
})
