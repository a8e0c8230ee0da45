import { defineConfig } from 'vitest/config'
import { LONG_TESTS } from './vitest.long-tests.ts'

/** `LONG_TESTS` alone, as `npm test` would run them. CI runs `npm run test:long`. */
export default defineConfig({
  test: {
    include: [...LONG_TESTS],
    isolate: false,
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    execArgv: ['--liftoff-only'],
    env: { NODE_ENV: 'test' },
  },
})
