import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { createStellarChain } from '../../../src/chains/stellar/stellar-chain.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import {
  accountWith,
  NETWORK,
  OTHER,
  paymentOf,
  requestOf,
  SELF,
  signingContextAt,
} from '../stellar/build.ts'
import type { ChainUnderTest } from './chain-under-test.ts'
import { describeChain } from './conformance.ts'

const FUNDS = 1_000_000_000n

describeChain('Stellar', async (): Promise<ChainUnderTest> => {
  const ledger = await startLedger({ closeEveryMs: 'manual' })
  ledger.fund(SELF, FUNDS)
  ledger.fund(OTHER, FUNDS)
  ledger.close()
  const deaf = await startFaultyNode(ledger.url)
  deaf.fault = (methods) => (methods.includes('sendTransaction') ? 'lose' : 'pass')

  const chainAt = (url: string) =>
    createStellarChain({
      network: {
        type: 'stellar',
        name: NETWORK.name,
        passphrase: ledger.passphrase,
        isTestnet: true,
        averageBlocktimeMs: 1,
        requiredConfirmations: 0,
        rpcUrls: [{ url, weight: 100 }],
      },
      rpcTimeoutMs: 5_000,
      clock: createHurriedClock(),
      log: createLogger({ level: 'silent' }),
    })

  return {
    chain: chainAt(ledger.url),
    behind: chainAt(ledger.replica({ behind: 1 })),
    deaf: chainAt(deaf.url),
    account: accountWith(),
    signingContext: signingContextAt,
    move: (amount, change) => requestOf({ operations: [paymentOf(amount)], ...change }),
    received: () => Promise.resolve(ledger.account(OTHER)?.balance ?? 0n),
    include: () => Promise.resolve(void ledger.close()),
    stop: async () => {
      await deaf.stop()
      await ledger.stop()
    },
  }
})
