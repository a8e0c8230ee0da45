import { defineConfig } from 'vitest/config'

/** Crash points, killed processes, random histories and the worst bodies: long, so apart from `npm test`. Run by `npm run test:faults`, and in CI. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts', 'test/e2e/worst-bodies/**/*.test.ts'],
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    execArgv: ['--liftoff-only'],
    env: { NODE_ENV: 'test' },
  },
})
