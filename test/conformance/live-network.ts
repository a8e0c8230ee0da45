import type { Chain, SourceAccount } from '../../src/chains/chain.ts'
import type { Account, ChainRequest } from '../../src/chains/request.ts'

/** The node that the command line names. */
export interface LiveTarget {
  readonly chain: 'evm' | 'stellar' | 'solana'
  readonly rpcUrls: readonly [string, ...string[]]
  /** EVM: hex private key of an account with money. Absent: the node's own first account pays. */
  readonly fundingKey?: string
  /** Stellar: where new accounts get their money. Absent: the friendbot that the node names. */
  readonly faucet?: string
}

/** A new account with money. */
export interface LiveAccount extends SourceAccount {
  /** The private key as the configuration takes it. */
  readonly key: string
  readonly account: Account
}

/** A network that someone brought, with everything that the checks need of it. */
export interface LiveNetwork {
  readonly type: LiveTarget['chain']
  /** The network's name in requests and in the configuration. */
  readonly name: string
  readonly rpcUrls: LiveTarget['rpcUrls']
  /** Its entry in the configuration file. */
  readonly entry: object
  readonly nonces: boolean
  /** The methods that carry signed bytes. */
  readonly broadcastMethods: readonly string[]
  /**
   * Changes an answer to that of a node that is behind: a lower height, and no recent transactions. Undefined: the answer stays the same.
   */
  answerBehind(method: string, result: unknown): unknown
  chainAt(...urls: readonly string[]): Chain
  newAccount(): Promise<LiveAccount>
  /** Reads the amount that an address can spend, in the smallest unit. */
  balanceOf(address: string): Promise<bigint>
  /** A transfer, as the chain takes it and as a caller of the API writes it. */
  transfer(from: string, to: string, amount: bigint): ChainRequest
  transferBody(from: string, to: string, amount: bigint): object
  /** Returns when everything that a node took before the call has had the chance to be in a block. */
  pass(): Promise<void>
}

/** A node may take this long for an effect that is certain, in ms: Solana finalizes after 13 s, its blockhashes expire after 60 s. */
export const LIVE_TIMEOUT_MS = 240_000

/** The target that the command line left in the environment. */
export function readTarget(): LiveTarget {
  const text = process.env.CONFORMANCE_TARGET
  if (text === undefined) throw new Error('run this by: npm run conformance -- --chain evm --rpc http://…')
  return JSON.parse(text) as LiveTarget
}

/** One JSON-RPC call, outside the service. */
export async function callNode(url: string, method: string, params: unknown = []): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
