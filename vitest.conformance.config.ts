import { defineConfig } from 'vitest/config'

/** What runs against a node that somebody brings, apart from `npm test`. Run by `npm run conformance`. */
export default defineConfig({
  test: {
    include: ['test/conformance/*.live.ts'],
    fileParallelism: false,
    // A Solana blockhash takes a minute to expire, and the proof that nothing came of it another quarter.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    retry: 0,
    env: { NODE_ENV: 'test' },
  },
})
