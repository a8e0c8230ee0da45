import { randomBytes } from 'node:crypto'
import { bytesToHex, numberToHex } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts'
import { SETTLE_MS } from '../../src/chains/simulations.ts'
import { createLogger } from '../../src/log.ts'
import { createSecp256k1Signer } from '../../src/signers/secp256k1.ts'
import { createAdjustableClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { callNode, LIVE_TIMEOUT_MS, type LiveNetwork, type LiveTarget } from './live-network.ts'

/** The start balance of each account, in wei: enough for every payment and fee of a run where gas costs up to 100 gwei. */
const FUNDS = 10n ** 17n

const GWEI = 10n ** 9n

/** The node that is behind lags by this many blocks: more than a test takes. */
const BEHIND = 30

/** Methods by which a node tells of a transaction. */
const HASH_METHODS = ['eth_getTransactionReceipt', 'eth_getTransactionByHash']

/** An EVM chain behind JSON-RPC of a node. */
export async function openEvm(target: LiveTarget): Promise<LiveNetwork> {
  const [url] = target.rpcUrls
  const rpc = async (method: string, params: readonly unknown[] = []) =>
    (await callNode(url, method, params)) as string
  const chainId = Number(await rpc('eth_chainId'))
  const blocktimeMs = await measureBlocktime(url)
  const clock = createAdjustableClock()
  const shared = { name: 'live', chainId, symbol: 'ETH', isTestnet: true } as const
  const height = async () => Number(await rpc('eth_blockNumber'))
  const balanceOf = async (address: string) => BigInt(await rpc('eth_getBalance', [address, 'latest']))

  async function fund(to: string): Promise<void> {
    if (target.fundingKey === undefined) {
      const [from] = (await callNode(url, 'eth_accounts')) as string[]
      if (from === undefined)
        throw new Error('the node has no account of its own: give one with money by --funding-key-file')
      await rpc('eth_sendTransaction', [{ from, to, value: numberToHex(FUNDS) }])
    } else {
      await rpc('eth_sendRawTransaction', [await signFunding(to, target.fundingKey)])
    }
    await until(
      () => balanceOf(to),
      (balance) => balance > 0n,
      { timeoutMs: LIVE_TIMEOUT_MS },
    )
  }

  async function signFunding(to: string, key: string): Promise<string> {
    const payer = privateKeyToAccount(key as `0x${string}`)
    const nonce = Number(await rpc('eth_getTransactionCount', [payer.address, 'pending']))
    const price = BigInt(await rpc('eth_gasPrice'))
    return payer.signTransaction({
      type: 'eip1559',
      chainId,
      nonce,
      to: to as `0x${string}`,
      value: FUNDS,
      gas: 50_000n,
      maxFeePerGas: 2n * price + GWEI,
      maxPriorityFeePerGas: GWEI,
    })
  }

  return {
    type: 'evm',
    name: 'live',
    rpcUrls: target.rpcUrls,
    nonces: true,
    broadcastMethods: ['eth_sendRawTransaction'],
    entry: {
      type: 'evm',
      network: 'live',
      chain_id: chainId,
      symbol: 'ETH',
      is_testnet: true,
      features: ['eip1559'],
      average_blocktime_ms: blocktimeMs,
      required_confirmations: 1,
      rpc_urls: target.rpcUrls,
    },
    answerBehind: (method, result) => {
      if (method === 'eth_blockNumber') return numberToHex(Math.max(0, Number(result) - BEHIND))
      return HASH_METHODS.includes(method) ? null : undefined
    },
    chainAt: (...urls) =>
      createEvmChain({
        network: {
          ...shared,
          type: 'evm',
          features: ['eip1559'],
          finality: 'depth',
          txFeeCap: 10n ** 18n,
          mempool: true,
          averageBlocktimeMs: blocktimeMs,
          requiredConfirmations: 1,
          rpcUrls: urls.map((one) => ({ url: one, weight: 100 })),
        },
        rpcTimeoutMs: 10_000,
        clock,
        log: createLogger({ level: 'silent' }),
      }),
    newAccount: async () => {
      const bytes = randomBytes(32)
      const key = bytesToHex(bytes)
      const address = privateKeyToAddress(key)
      await fund(address)
      return {
        key,
        address,
        signer: createSecp256k1Signer('live', bytes),
        account: { address, policies: {} },
      }
    },
    balanceOf,
    transfer: (_from, to, value) => ({ type: 'evm', to, value, speed: 'fast' }),
    transferBody: (_from, to, amount) => ({ to, value: String(amount), speed: 'fast' }),
    pass: async () => {
      // A refusal that one node repeats counts only after this time.
      clock.advance(SETTLE_MS)
      const before = await height()
      await until(height, (now) => now >= before + 2, { timeoutMs: LIVE_TIMEOUT_MS })
    },
  }
}

/** The time between the last two blocks, in ms; 2 s where there are none yet. */
async function measureBlocktime(url: string): Promise<number> {
  const read = async (tag: string) =>
    (await callNode(url, 'eth_getBlockByNumber', [tag, false])) as { number: string; timestamp: string }
  const newest = await read('latest')
  if (Number(newest.number) < 2) return 2_000
  const parent = await read(numberToHex(Number(newest.number) - 1))
  return Math.max(1, Number(newest.timestamp) - Number(parent.timestamp)) * 1_000
}
