/** Tests of `test/e2e` and `test/database` that take so long that they run with `npm run test:faults`: each starts commands and services anew. */
export const LONG_TESTS: readonly string[] = [
  'test/database/sealed-columns.test.ts',
  'test/e2e/audit-cli.test.ts',
  'test/e2e/chain-reset-cli.test.ts',
  'test/e2e/change-storage-key.test.ts',
]
