import { defineConfig } from 'vitest/config'
import { hasPostgres } from './test/support/postgres.ts'

/**
 * The crash points, killed processes, power cuts, random histories and ten thousand deliveries take long, so they are not part of
 * `npm test`. CI runs `npm run test:faults`.
 */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    exclude: hasPostgres() ? [] : ['test/faults/deliveries.test.ts'],
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    execArgv: ['--liftoff-only'],
    env: { NODE_ENV: 'test' },
  },
})
