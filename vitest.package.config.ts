import { defineConfig } from 'vitest/config'
import { EVERY_RUN } from './vitest.shared.ts'

/** The package as its users get it: packed, installed into an empty folder, started. Needs the npm registry. Run by `npm run test:package`. */
export default defineConfig({
  test: {
    ...EVERY_RUN,
    include: ['test/package/**/*.test.ts'],
    // Packing compiles everything, and the installation may have to load 230 packages.
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
})
