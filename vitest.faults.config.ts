import { defineConfig } from 'vitest/config'

/** The crash points, killed processes and random histories take long, so they are not part of `npm test`. CI runs `npm run test:faults`. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    execArgv: ['--liftoff-only'],
    env: { NODE_ENV: 'test' },
  },
})
