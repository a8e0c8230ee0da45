import { defineConfig } from 'vitest/config'

/** The folders and files of tests that `scripts/mutate.ts` chose. */
const chosen = (process.env.MUTATION_TESTS ?? '').split(',').filter((path) => path !== '')

export default defineConfig({
  test: {
    include: chosen.map((path) => (path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`)),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    retry: 0,
    isolate: false,
    env: { NODE_ENV: 'test', SHARE_TEST_DATABASE: '1' },
  },
})
