import { defineConfig } from 'vitest/config'
import { EVERY_RUN } from './vitest.shared.ts'

/** What runs against a node that somebody brings, apart from `npm test`. Run by `npm run conformance`. */
export default defineConfig({
  test: {
    ...EVERY_RUN,
    include: ['test/conformance/*.live.ts'],
    fileParallelism: false,
    // A Solana blockhash takes a minute to expire, and the proof that nothing came of it another quarter.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
