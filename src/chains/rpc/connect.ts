import type { Logger } from 'pino'
import { maskUrl } from '../../lib/http/mask-url.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Clock } from '../../lib/time.ts'
import type { Network, RpcUrl } from '../../networks/network.ts'
import type { EndpointReport } from '../answer.ts'
import { createRpcClient } from './client.ts'
import type { NodeDialect } from './node-dialect.ts'
import type { PooledClient, RpcObserver } from './rpc.ts'
import type { Transport } from './transport.ts'

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
  /** Queries the heights of all endpoints from time to time. The caller does not wait for the replies. */
  readonly probeHeights: () => void
}

/** Creates the RPC client of a network. `urls` are the network's urls that speak HTTP. */
export function connect(
  { rpcTimeoutMs, ...options }: ChainOptions,
  dialect: NodeDialect,
  urls: readonly RpcUrl[] = options.network.rpcUrls,
): Connection {
  const { clock, log, observer, guarded, network } = options
  const client = createRpcClient({
    urls,
    blocktimeMs: network.averageBlocktimeMs,
    timeoutMs: rpcTimeoutMs,
    clock,
    log,
    observer,
    guarded,
    ...dialect,
  })
  return { client, probeHeights: createHeightProbe(client, clock) }
}

/**
 * The height of every endpoint is queried once in this interval, in ms. The cost grows with time and not with
 * load.
 */
const PROBE_INTERVAL_MS = 30_000

/**
 * Requests go to one endpoint for a while, so the service would not notice that another one lags or has
 * recovered. The probe queries all endpoints from time to time; the workers call it whenever they read the
 * head, without waiting for it.
 */
function createHeightProbe(client: PooledClient, clock: Clock): () => void {
  let lastAt = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.monotonic() - lastAt < PROBE_INTERVAL_MS || client.states().length < 2) return
    lastAt = clock.monotonic()
    void client.sendEverywhere([])
  }
}

interface ReportOptions {
  readonly clock: Clock
  readonly keepsHistory?: (url: string) => boolean | undefined
}

/** Reports the state of each endpoint without the path of its url, where providers put their keys. */
export function reportEndpoints(
  client: PooledClient,
  { clock, keepsHistory = () => undefined }: ReportOptions,
): EndpointReport[] {
  return client.states().map(({ url, restsForMs, ...state }) =>
    omitUndefined({
      ...state,
      host: new URL(url).host,
      maskedUrl: maskUrl(url),
      restsUntil: restsForMs === undefined ? undefined : new Date(clock.now() + restsForMs),
      keepsHistory: keepsHistory(url),
    }),
  )
}
