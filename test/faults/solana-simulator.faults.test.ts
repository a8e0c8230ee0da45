import { startSolanaTestChain } from '../../scripts/faults/solana/test-chain.ts'
import { simulatorSuite } from './simulator-suite.ts'

simulatorSuite(
  'Solana: random histories keep every promise',
  ({ endpoints, pools = false }) =>
    (now) =>
      startSolanaTestChain({ endpoints, pools, now }),
  [
    { title: 'one endpoint', first: 1, count: 2, steps: 30, endpoints: 1, kills: false },
    { title: 'two endpoints', first: 200, count: 1, steps: 30, endpoints: 2, kills: false },
    {
      title: 'two accounts of a relayer',
      first: 1,
      count: 1,
      steps: 30,
      endpoints: 2,
      kills: false,
      pools: true,
    },
    { title: 'killed now and then', first: 1000, count: 1, steps: 25, endpoints: 1, kills: true },
  ],
)
