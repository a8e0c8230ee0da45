import { defineConfig } from 'vitest/config'

/** What needs a browser, apart from `npm test`, which needs nothing but npm. Run by `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    retry: 0,
    env: { NODE_ENV: 'test' },
  },
})
