import { startEvmSite } from './evm/site.ts'
import { simulatorSuite } from './simulator-suite.ts'

simulatorSuite(
  'EVM: random histories keep every promise',
  ({ endpoints }) =>
    () =>
      startEvmSite({ endpoints }),
  [
    { title: 'one endpoint', first: 13, count: 4, steps: 25, endpoints: 1, kills: false },
    { title: 'two endpoints', first: 200, count: 2, steps: 25, endpoints: 2, kills: false },
    // A fee that cannot be raised kept its transaction from being offered again after the pool had lost it.
    {
      title: 'a lost pool and a raise that is refused',
      first: 7000,
      count: 2,
      steps: 30,
      endpoints: 2,
      kills: false,
    },
    { title: 'killed now and then', first: 1000, count: 1, steps: 25, endpoints: 1, kills: true },
  ],
)
