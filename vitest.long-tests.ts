/** Tests that need `prometheus` and `promtool`. */
export const PROMETHEUS_TESTS: readonly string[] = ['test/ops/prometheus.test.ts']

/**
 * Tests that start commands and services anew, wait for blocks, or store so much, that they would take a part of `npm test` for themselves.
 */
export const LONG_TESTS: readonly string[] = [
  'test/cli/serve.test.ts',
  'test/client/eip1193.test.ts',
  'test/client/ethers.test.ts',
  'test/client/solana-kit.test.ts',
  'test/client/stellar.test.ts',
  'test/client/viem.test.ts',
  'test/contract/prepared-validators.test.ts',
  'test/database/sealed-columns.test.ts',
  'test/e2e/abis.test.ts',
  'test/e2e/alerts-kill.test.ts',
  'test/e2e/alerts.test.ts',
  'test/e2e/audit-cli.test.ts',
  'test/e2e/chain-reset-cli.test.ts',
  'test/e2e/change-storage-key.test.ts',
  'test/e2e/evm-lists.test.ts',
  'test/e2e/health.test.ts',
  'test/e2e/notifications-kill.test.ts',
  'test/e2e/restart.test.ts',
  'test/e2e/solana/valid-from.test.ts',
  'test/e2e/stellar/valid-from.test.ts',
  'test/e2e/valid-from.test.ts',
  'test/e2e/wallet/calls.test.ts',
  'test/e2e/wallet/viem.test.ts',
  'test/examples/evm.test.ts',
  'test/examples/other-networks.test.ts',
  'test/guides/backup.test.ts',
  ...PROMETHEUS_TESTS,
  'test/transactions/store/search-plans.test.ts',
]
