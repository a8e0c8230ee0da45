/**
 * What callers may ask of a node when the relayer's policy does not say: reads, prices and simulations. Nothing that signs, sends or
 * administers, and nothing that keeps state on a node, as the next call may reach another one.
 */
export const READ_METHODS: readonly string[] = [
  'getEvents',
  'getFeeStats',
  'getHealth',
  'getLatestLedger',
  'getLedgerEntries',
  'getLedgers',
  'getNetwork',
  'getTransaction',
  'getTransactions',
  'getVersionInfo',
  'simulateTransaction',
]
