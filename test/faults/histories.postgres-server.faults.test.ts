import { startEvmTestChain } from '../../scripts/faults/evm/test-chain.ts'
import { SHORT_RETENTION, startStellarTestChain } from '../../scripts/faults/stellar/test-chain.ts'
import { simulatorSuite } from './simulator-suite.ts'

simulatorSuite(
  'Several processes on one PostgreSQL: random histories keep every promise',
  ({ endpoints }) =>
    () =>
      startEvmTestChain({ endpoints }),
  [
    // A price that its caller had named, and that no node took, held up others for two minutes, so that a no-op used its nonce.
    {
      title: 'killed now and then',
      first: 27_087,
      count: 1,
      steps: 30,
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
