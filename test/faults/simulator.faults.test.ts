import { startEvmTestChain } from '../../scripts/faults/evm/test-chain.ts'
import { simulatorSuite } from './simulator-suite.ts'

simulatorSuite(
  'EVM: random histories keep every promise',
  ({ endpoints, fees = false, refusals = false, reorganisations = false, pools = false }) =>
    () =>
      startEvmTestChain({ endpoints, fees, refusals, reorganisations, pools }),
  [
    { title: 'one endpoint', first: 13, count: 2, steps: 25, endpoints: 1, kills: false },
    { title: 'two endpoints', first: 200, count: 2, steps: 25, endpoints: 2, kills: false },
    // A receipt that its endpoint had pruned was taken for a proof that a third party had used the nonce, and it was executed twice.
    { title: 'a pruned receipt', first: 30_001, count: 1, steps: 30, endpoints: 1, kills: false },
    // One endpoint refused a replacement for its fee, another took it and its reply was lost: the caller was told that it had not happened.
    {
      title: 'a lost reply beside a refusal',
      first: 50_006,
      count: 1,
      steps: 30,
      endpoints: 2,
      kills: false,
    },
    // A fee was raised by the time alone: to 4,400 gwei where the market was at 20, and 32 times within three blocks.
    { title: 'nothing overpaid', first: 1, count: 3, steps: 30, endpoints: 1, kills: false, fees: true },
    {
      title: 'nothing overpaid, killed',
      first: 2000,
      count: 1,
      steps: 30,
      endpoints: 1,
      kills: true,
      fees: true,
    },
    // Content that nodes refused in words that no one knew stood for a day, and everything behind it.
    { title: 'unwanted content', first: 1, count: 2, steps: 25, endpoints: 1, kills: false, refusals: true },
    {
      title: 'unwanted content, killed',
      first: 3000,
      count: 1,
      steps: 25,
      endpoints: 2,
      kills: true,
      refusals: true,
    },
    // A reorganisation was not noticed where another relayer's transaction was final on the new chain before the next check.
    {
      title: 'blocks that were final are lost',
      first: 11,
      count: 1,
      steps: 20,
      endpoints: 1,
      kills: false,
      reorganisations: true,
    },
    {
      title: 'two accounts of a relayer',
      first: 1,
      count: 2,
      steps: 30,
      endpoints: 2,
      kills: false,
      pools: true,
    },
    {
      title: 'two accounts, killed',
      first: 4000,
      count: 1,
      steps: 25,
      endpoints: 1,
      kills: true,
      pools: true,
    },
    { title: 'killed now and then', first: 1000, count: 1, steps: 25, endpoints: 1, kills: true },
  ],
)
