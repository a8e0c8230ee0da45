import { randomBytes } from 'node:crypto'
import { createStellarChain } from '../../src/chains/stellar/stellar-chain.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { createEd25519Signer, stellarAddress } from '../../src/signers/ed25519.ts'
import { until } from '../support/until.ts'
import { callNode, LIVE_TIMEOUT_MS, type LiveNetwork, type LiveTarget } from './live-network.ts'

/** Ledgers close every five seconds on public networks. */
const LEDGER_MS = 5_000

/** The node that is behind lags by this many ledgers: more than a test takes. */
const BEHIND = 20

/** The ledgers that stellar-rpc reports in its answers; `getLedgerEntries` has the newest alone. */
interface Known {
  readonly latestLedger: number
  readonly latestLedgerCloseTime: string
  readonly oldestLedger: number
  readonly oldestLedgerCloseTime: string
}

/** A Stellar network behind stellar-rpc, with a friendbot that gives money to new accounts. */
export async function openStellar(target: LiveTarget): Promise<LiveNetwork> {
  const [url] = target.rpcUrls
  const { passphrase, friendbotUrl } = (await callNode(url, 'getNetwork', {})) as {
    passphrase: string
    friendbotUrl?: string
  }
  const faucet = target.faucet ?? friendbotUrl
  if (faucet === undefined) throw new Error('the node names no friendbot: give one by --faucet URL')
  const newest = async () => ((await callNode(url, 'getLatestLedger', {})) as { sequence: number }).sequence
  const chainAt: LiveNetwork['chainAt'] = (...urls) =>
    createStellarChain({
      network: {
        type: 'stellar',
        name: 'live',
        passphrase,
        isTestnet: true,
        averageBlocktimeMs: LEDGER_MS,
        requiredConfirmations: 0,
        rpcUrls: urls.map((one) => ({ url: one, weight: 100 })),
      },
      rpcTimeoutMs: 10_000,
      clock: systemClock,
      log: createLogger({ level: 'silent' }),
    })
  const chain = chainAt(url)
  const balanceOf = async (address: string) => {
    const answer = await chain.balance(address)
    if (answer.kind !== 'ok') throw new Error(`the balance of ${address} is not known`)
    return answer.value
  }
  return {
    type: 'stellar',
    name: 'live',
    rpcUrls: target.rpcUrls,
    nonces: true,
    broadcastMethods: ['sendTransaction'],
    entry: {
      type: 'stellar',
      network: 'live',
      passphrase,
      is_testnet: true,
      average_blocktime_ms: LEDGER_MS,
      rpc_urls: target.rpcUrls,
    },
    answerBehind: (method, result) => {
      const { latestLedger, latestLedgerCloseTime, oldestLedger, oldestLedgerCloseTime } = result as Known
      const older = { latestLedger: latestLedger - BEHIND }
      if (method === 'getLedgerEntries') return { ...(result as Known), ...older }
      if (method !== 'getTransaction') return undefined
      return { status: 'NOT_FOUND', ...older, latestLedgerCloseTime, oldestLedger, oldestLedgerCloseTime }
    },
    chainAt,
    newAccount: async () => {
      const seed = randomBytes(32)
      const signer = createEd25519Signer('live', seed)
      const address = stellarAddress(signer.publicKey)
      const answer = await fetch(`${faucet}?addr=${address}`)
      if (!answer.ok) throw new Error(`the friendbot answered HTTP ${answer.status}`)
      await until(
        () => balanceOf(address),
        (balance) => balance > 0n,
        { timeoutMs: LIVE_TIMEOUT_MS },
      )
      return { key: seed.toString('hex'), address, signer, account: { address, policies: {} } }
    },
    balanceOf,
    transfer: (_from, to, amount) => ({
      type: 'stellar',
      network: 'live',
      operations: [{ type: 'payment', destination: to, asset: { type: 'native' }, amount }],
    }),
    transferBody: (_from, to, amount) => ({
      network: 'live',
      operations: [{ type: 'payment', destination: to, asset: { type: 'native' }, amount: String(amount) }],
    }),
    pass: async () => {
      const before = await newest()
      await until(newest, (now) => now >= before + 2, { timeoutMs: LIVE_TIMEOUT_MS })
    },
  }
}
