import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/database/postgres.test.ts'],
    // Files share two cores with the anvils and databases that they start.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    env: { NODE_ENV: 'test' },
  },
})
