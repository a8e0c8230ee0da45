import { SHORT_RETENTION, startStellarTestChain } from '../../scripts/faults/stellar/test-chain.ts'
import { simulatorSuite } from './simulator-suite.ts'

simulatorSuite(
  'Stellar: random histories keep every promise',
  ({ endpoints, channels = 0, pools = false }) =>
    (now) =>
      startStellarTestChain({ endpoints, channels, pools, now, retentionLedgers: SHORT_RETENTION }),
  [
    { title: 'one endpoint', first: 1, count: 2, steps: 30, endpoints: 1, channels: 0, kills: false },
    { title: 'channel accounts', first: 100, count: 1, steps: 30, endpoints: 1, channels: 2, kills: false },
    { title: 'two endpoints', first: 200, count: 1, steps: 30, endpoints: 2, channels: 0, kills: false },
    {
      title: 'two accounts of a relayer',
      first: 1,
      count: 1,
      steps: 30,
      endpoints: 1,
      kills: false,
      pools: true,
    },
    {
      title: 'killed now and then',
      first: 1000,
      count: 1,
      steps: 25,
      endpoints: 1,
      channels: 1,
      kills: true,
    },
  ],
)
