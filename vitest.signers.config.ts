import { defineConfig } from 'vitest/config'

/**
 * Every kind of signer in one conformance suite, and accounts whose key another service holds. The services are installed and started by
 * the tests, which takes Python, a package index and minutes, so they are not part of `npm test`. CI runs `npm run test:signers`.
 */
export default defineConfig({
  test: {
    include: ['test/signers/conformance/**/*.test.ts', 'test/e2e/signers/**/*.test.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    retry: 0,
    env: { NODE_ENV: 'test' },
  },
})
