import { defineConfig } from 'vitest/config'
import { EVERY_RUN } from './vitest.shared.ts'

/** What needs a browser, apart from `npm test`, which needs nothing but npm. Run by `npm run test:browser`. */
export default defineConfig({
  test: {
    ...EVERY_RUN,
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    // A file waits for its browser while another one waits for its service.
    maxWorkers: 2,
  },
})
