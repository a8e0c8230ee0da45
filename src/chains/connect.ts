import type { Logger } from 'pino'
import type { Clock } from '../lib/time/clock.ts'
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
  /** Asks all endpoints for their heights from time to time. The caller does not wait for the answers. */
  readonly probeHeights: () => void
}

/** Creates the RPC client of a network. `urls` are the network's urls that speak HTTP. */
export function connect(
  { rpcTimeoutMs, ...options }: ChainOptions,
  dialect: NodeDialect,
  urls: readonly RpcUrl[] = options.network.rpcUrls,
): Connection {
  const { clock, log, observer, guarded } = options
  const client = createRpcClient({ urls, timeoutMs: rpcTimeoutMs, clock, log, observer, guarded, ...dialect })
  return { client, probeHeights: createHeightProbe(client, clock) }
}

/** Every endpoint is asked for its height once in this interval, in ms. The cost grows with time and not with load. */
const PROBE_INTERVAL_MS = 30_000

/**
 * Requests go to one endpoint for a while, so the service would not notice that another one lags or has recovered. The probe asks all
 * endpoints from time to time; the workers call it whenever they read the head, and nobody waits for it.
 */
function createHeightProbe(client: PooledClient, clock: Clock): () => void {
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.monotonic() - lastAt < PROBE_INTERVAL_MS || client.states().length < 2) return
    lastAt = clock.monotonic()
    void client.sendEverywhere([])
  }
}
