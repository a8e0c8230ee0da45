import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import type { Network, RpcUrl } from '../networks/network.ts'
import { createRpcClient } from './rpc/client.ts'
import type { NodeDialect } from './rpc/node-dialect.ts'
import type { RpcObserver } from './rpc/observer.ts'
import type { PooledClient } from './rpc/rpc.ts'
import type { Transport } from './rpc/transport.ts'

/** The options from which each kind of chain is created. */
export interface ChainOptions<N extends Network = Network> {
  readonly network: N
  /** The longest that one HTTP request may take, in ms. */
  readonly rpcTimeoutMs: number
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: RpcObserver | undefined
  /** Asks the RPC urls that API callers chose. Without it they are not asked. */
  readonly guarded?: Transport | undefined
}

interface Connection {
  readonly client: PooledClient
  /** Asks all endpoints for their heights now and then; the caller does not wait for them. */
  readonly probeHeights: () => void
}

/** Creates the RPC client of a network. `urls` are those of the network's urls that speak HTTP. */
export function connect(
  { rpcTimeoutMs, ...options }: ChainOptions,
  dialect: NodeDialect,
  urls: readonly RpcUrl[] = options.network.rpcUrls,
): Connection {
  const { clock, log, observer, guarded } = options
  const client = createRpcClient({ urls, timeoutMs: rpcTimeoutMs, clock, log, observer, guarded, ...dialect })
  return { client, probeHeights: createHeightProbe(client, clock) }
}

/** How often every endpoint is asked for its height, in ms. Grows with time, not with work. */
const PROBE_INTERVAL_MS = 30_000

/**
 * Questions go to one endpoint for a while, so nothing would be known of the others: whether they lag, and whether one
 * that rested is well again. Called at every look at the chain, it asks all of them now and then, and nobody waits for it.
 */
function createHeightProbe(client: PooledClient, clock: Clock): () => void {
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.now() - lastAt < PROBE_INTERVAL_MS || client.states().length < 2) return
    lastAt = clock.now()
    void client.sendEverywhere([])
  }
}
