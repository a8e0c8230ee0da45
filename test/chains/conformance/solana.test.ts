import { startSolana } from '../../../simulators/solana/start-solana.ts'
import { transfer } from '../../../simulators/solana/wallet.ts'
import { createSolanaChain } from '../../../src/chains/solana/solana-chain.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import { accountWith, instructionsOf, OTHER, SELF, SIGNING_CONTEXT } from '../solana/build.ts'
import type { ChainUnderTest } from './chain-under-test.ts'
import { describeChain } from './conformance.ts'

const FUNDS = 1_000_000_000n

/** The replica is this many blocks behind: more than finality takes, by which nodes are compared. */
const BEHIND = 6

describeChain(
  'Solana',
  async (): Promise<ChainUnderTest> => {
    const solana = await startSolana({ slotMs: 'manual' })
    solana.airdrop(SELF, FUNDS)
    solana.airdrop(OTHER, FUNDS)
    solana.tick(BEHIND)
    const deaf = await startFaultyNode(solana.url)
    deaf.fault = (methods) => (methods.includes('sendTransaction') ? 'lose' : 'pass')

    const chainAt = (url: string) =>
      createSolanaChain({
        network: {
          type: 'solana',
          name: 'local',
          genesisHash: solana.genesisHash,
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
      chain: chainAt(solana.url),
      behind: chainAt(solana.replica({ behind: BEHIND })),
      deaf: chainAt(deaf.url),
      account: accountWith(),
      signingContext: () => SIGNING_CONTEXT,
      move: (amount, change) => ({ ...instructionsOf(transfer(SELF, OTHER, amount)), ...change }),
      received: () => Promise.resolve((solana.account(OTHER)?.lamports ?? FUNDS) - FUNDS),
      // The block is final after these ticks, as on a chain whose nodes report finality themselves.
      include: () => Promise.resolve(void solana.tick(5)),
      stop: async () => {
        await deaf.stop()
        await solana.stop()
      },
    }
  },
  { nonces: false },
)
