import { startEvmTestChain } from './evm/test-chain.ts'
import { simulatorSuite } from './simulator-suite.ts'

simulatorSuite(
  'EVM: random histories keep every promise',
  ({ endpoints }) =>
    () =>
      startEvmTestChain({ endpoints }),
  [
    { title: 'one endpoint', first: 13, count: 2, steps: 25, endpoints: 1, kills: false },
    { title: 'two endpoints', first: 200, count: 2, steps: 25, endpoints: 2, kills: false },
    // A receipt that its endpoint had pruned was taken for a proof that somebody else had used the nonce, and it was executed twice.
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
    { title: 'killed now and then', first: 1000, count: 1, steps: 25, endpoints: 1, kills: true },
  ],
)
