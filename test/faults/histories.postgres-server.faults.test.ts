import { startEvmTestChain } from '../../scripts/faults/evm/test-chain.ts'
import { SHORT_RETENTION, startStellarTestChain } from '../../scripts/faults/stellar/test-chain.ts'
import { simulatorSuite } from './simulator-suite.ts'

simulatorSuite(
  'Several processes on one PostgreSQL: random histories keep every promise',
  ({ endpoints }) =>
    () =>
      startEvmTestChain({ endpoints }),
  [
    // The clock and the time between kills let a price that its caller had named hold up others for two minutes.
    {
      title: 'killed now and then',
      first: 10_034,
      count: 1,
      steps: 25,
      endpoints: 1,
      kills: true,
      processes: 2,
      storage: 'postgres',
    },
    {
      title: 'the database fails over',
      first: 10_000,
      count: 2,
      steps: 25,
      endpoints: 1,
      kills: false,
      processes: 2,
      storage: 'replicated',
    },
  ],
)

simulatorSuite(
  'Several processes on one PostgreSQL, Stellar: random histories keep every promise',
  ({ endpoints }) =>
    (now) =>
      startStellarTestChain({ endpoints, now, retentionLedgers: SHORT_RETENTION }),
  [
    {
      title: 'the database fails over',
      first: 10_000,
      count: 1,
      steps: 25,
      endpoints: 1,
      kills: false,
      processes: 2,
      storage: 'replicated',
    },
  ],
)
