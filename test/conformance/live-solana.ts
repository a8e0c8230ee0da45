import { randomBytes } from 'node:crypto'
import { address as toAddress } from '@solana/kit'
import { transfer } from '../../simulators/solana/wallet.ts'
import { createSolanaChain } from '../../src/chains/solana/solana-chain.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { createEd25519Signer, solanaAddress } from '../../src/signers/ed25519.ts'
import { instructionsOf } from '../chains/solana/build.ts'
import { transferBetween } from '../support/solana-scenario.ts'
import { until } from '../support/until.ts'
import { callNode, LIVE_TIMEOUT_MS, type LiveNetwork, type LiveTarget } from './live-network.ts'

/** The start balance of each account, in lamports. */
const FUNDS = 1_000_000_000

/** A slot, in ms. */
const SLOT_MS = 400

/** The node that is behind lags by this many slots: more than a test takes. */
const BEHIND = 300

/** A Solana cluster behind JSON-RPC of a node that gives airdrops. */
export async function openSolana(target: LiveTarget): Promise<LiveNetwork> {
  const [url] = target.rpcUrls
  const genesisHash = (await callNode(url, 'getGenesisHash')) as string
  const slotAt = async (commitment: string) => (await callNode(url, 'getSlot', [{ commitment }])) as number
  const balanceOf = async (address: string) => {
    const { value } = (await callNode(url, 'getBalance', [address, { commitment: 'confirmed' }])) as {
      value: number
    }
    return BigInt(value)
  }
  const pass = async () => {
    const before = await slotAt('processed')
    await until(
      () => slotAt('finalized'),
      (now) => now > before + 1,
      { timeoutMs: LIVE_TIMEOUT_MS },
    )
  }
  return {
    type: 'solana',
    name: 'live',
    rpcUrls: target.rpcUrls,
    nonces: false,
    broadcastMethods: ['sendTransaction'],
    entry: {
      type: 'solana',
      network: 'live',
      genesis_hash: genesisHash,
      is_testnet: true,
      average_blocktime_ms: SLOT_MS,
      rpc_urls: target.rpcUrls,
    },
    answerBehind: (method, result) => {
      if (method === 'getEpochInfo') {
        const info = result as { absoluteSlot: number }
        return { ...info, absoluteSlot: Math.max(0, info.absoluteSlot - BEHIND) }
      }
      if (method !== 'getSignatureStatuses') return undefined
      const { context, value } = result as { context: { slot: number }; value: readonly unknown[] }
      return {
        context: { ...context, slot: Math.max(0, context.slot - BEHIND) },
        value: value.map(() => null),
      }
    },
    chainAt: (...urls) =>
      createSolanaChain({
        network: {
          type: 'solana',
          name: 'live',
          genesisHash,
          isTestnet: true,
          averageBlocktimeMs: SLOT_MS,
          requiredConfirmations: 0,
          rpcUrls: urls.map((one) => ({ url: one, weight: 100 })),
        },
        rpcTimeoutMs: 10_000,
        clock: systemClock,
        log: createLogger({ level: 'silent' }),
      }),
    newAccount: async () => {
      const seed = randomBytes(32)
      const signer = createEd25519Signer('live', seed)
      const address = solanaAddress(signer.publicKey)
      await callNode(url, 'requestAirdrop', [address, FUNDS])
      await until(
        () => balanceOf(address),
        (balance) => balance > 0n,
        { timeoutMs: LIVE_TIMEOUT_MS },
      )
      return { key: seed.toString('hex'), address, signer, account: { address, policies: {} } }
    },
    balanceOf,
    transfer: (from, to, amount) => instructionsOf(transfer(toAddress(from), toAddress(to), amount)),
    transferBody: transferBetween,
    pass,
  }
}
