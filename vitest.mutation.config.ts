import { defineConfig } from 'vitest/config'

/** The tests that `scripts/mutate.ts` chose. */
const folders = (process.env.MUTATION_TESTS ?? '').split(',').filter((folder) => folder !== '')

export default defineConfig({
  test: {
    include: folders.map((folder) => `${folder}/**/*.test.ts`),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    retry: 0,
    env: { NODE_ENV: 'test' },
  },
})
