import type { Logger } from 'pino'
import { FREE_ANSWER_BYTES, httpTransport, MAX_ANSWER_BYTES } from '../chains/rpc/transport.ts'
import { wellKnownNetworks } from '../config/networks.ts'
import type { Config } from '../config/types.ts'
import type { Database } from '../database/db.ts'
import { ConfigError } from '../lib/fields.ts'
import { createByteBudget } from '../lib/http/byte-budget.ts'
import type { Clock } from '../lib/time.ts'
import { createNetworkDirectory } from '../networks/directory.ts'
import { createTokenDecimals } from '../networks/token-decimals-store.ts'
import { createChainResetDetector } from '../relayers/chain-reset.ts'
import { createHealthChecker } from '../relayers/health/check-health.ts'
import { createPolicyBounds, lowerPolicies } from '../relayers/policies/policy-bounds.ts'
import { openRelayerReader } from '../relayers/relayer-cache.ts'
import { reportSharedKeys } from '../relayers/shared-keys.ts'
import { createGuardedHttpClient } from '../security/guarded-http-client.ts'
import type { Sealer } from '../security/secrets.ts'
import type { Key } from '../signers/key.ts'
import { createKeyring } from '../signers/keyring.ts'
import type { ConnectionContext } from '../signers/providers/connect.ts'
import { MAX_PRICE_BYTES } from '../sponsoring/http-price.ts'
import { createPriceReader } from '../sponsoring/prices.ts'
import type { Traces } from '../telemetry/open-telemetry.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { createHistoryChecker } from '../transactions/submit/check-history.ts'
import { findUnexplained } from '../transactions/submit/number-and-sign.ts'
import { SharedAccounts } from '../workers/account-share.ts'
import { createWatchWorker, type WatchTarget } from '../workers/watch-worker.ts'
import type { Instrumentation } from './metrics.ts'
import { createRelayerRegistry, type RelayerRegistry } from './relayer-registry.ts'
import { createRelayerRuntimes, joinRpcObservers, joinTransactionObservers } from './relayer-runtime.ts'

/**
 * The memory for all answers of callers' endpoints that are under way, in bytes. It is small beside any heap,
 * so that no number of hostile endpoints can fill the heap, at a start neither.
 */
const UNTRUSTED_BUDGET_BYTES = 64 * 1024 * 1024

const RPC_CLIENT_OPTIONS = { wholeBodyBytes: MAX_ANSWER_BYTES, idleSockets: 64 }

interface RuntimeSetOptions {
  readonly config: Config
  readonly database: Database
  /** The keys of the signers in the configuration, by id. */
  readonly keys: ReadonlyMap<string, Key>
  /** Calls the key services that callers named. */
  readonly connection: ConnectionContext
  /** Opens the stored keys; undefined without a STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  readonly instrumentation: Instrumentation | undefined
  /** Undefined if traces are off. */
  readonly traces: Traces | undefined
  /** Identifies this process in leases. */
  readonly owner: string
  readonly clock: Clock
  readonly log: Logger
  /** The name servers that resolve the hosts of callers' urls; undefined for those of the system. */
  readonly nameServers?: readonly string[] | undefined
}

/** Relayer runtimes, their keys and chain clients, and the registry that keeps them current. */
export type RuntimeSet = Awaited<ReturnType<typeof createRuntimes>>

/**
 * Creates the runtimes of all relayers and the registry that keeps them current.
 * @throws ConfigError if a relayer cannot act, or an endpoint of the configuration serves another chain
 */
export async function createRuntimes(options: RuntimeSetOptions) {
  const { config, database, keys, sealer, connection, instrumentation, traces, owner, clock, log } = options
  const { db } = database
  const { maxInFlight, rpcTimeoutMs } = config
  const networks = createNetworkDirectory(config.networks, wellKnownNetworks())
  const keyring = createKeyring({ db, sealer, configured: keys, connection })
  const rpcObserver = joinRpcObservers(instrumentation?.rpc, traces?.rpc)
  const httpClient = createGuardedHttpClient(
    { allowPrivate: config.allowPrivateUrls },
    {
      ...RPC_CLIENT_OPTIONS,
      budget: createByteBudget({ bytes: UNTRUSTED_BUDGET_BYTES, freeBytes: FREE_ANSWER_BYTES }),
      names: { servers: options.nameServers },
    },
  )
  const guarded = httpTransport(httpClient)
  const priceClient = createGuardedHttpClient(
    { allowPrivate: config.allowPrivateUrls },
    { wholeBodyBytes: MAX_PRICE_BYTES, names: { servers: options.nameServers } },
  )
  const runtimes = createRelayerRuntimes({
    networks,
    keyring,
    rpcTimeoutMs,
    clock,
    log,
    rpcObserver,
    guarded,
    tokenDecimals: createTokenDecimals({ db, clock, log }),
  })
  const { runtimeOf, prepare } = runtimes
  const relayers = await openRelayerReader(database, prepare)
  const relayerOf = relayers.read
  const observer = joinTransactionObservers(instrumentation?.transactions, traces?.lives)
  const resetDetector = createChainResetDetector({ db, clock, networks })
  const findChainReset: TransactionsContext['findChainReset'] = ({ chain, network }) =>
    resetDetector.find(chain, network)
  const history = createHistoryChecker({ db, clock, log })
  const healthChecker = createHealthChecker({
    db,
    clock,
    log,
    prepare,
    findChainReset: (relayer) => findChainReset(runtimeOf(relayer)),
    findUnexplained: (relayer, sourceAccounts) => findUnexplained({ db }, relayer, { sourceAccounts }),
    checkHistory: history.check,
  })
  const hasOneSession = database.engine === 'pglite'
  const share = new SharedAccounts({ db, clock, log, owner, isAlone: hasOneSession })
  const context: TransactionsContext = {
    db,
    hasOneSession,
    seenNonces: new WeakMap(),
    clock,
    startedAt: clock.now(),
    log,
    maxInFlight,
    owner,
    share,
    observer,
    tracer: traces?.transactions,
    relayerOf,
    runtimeOf,
    findChainReset,
    checkHealth: healthChecker.checkNow,
    checkHistory: history.check,
    hasRested: history.hasRested,
  }
  const createWatchLoop = (target: WatchTarget) => createWatchWorker(context, target)
  const registry = createRelayerRegistry({
    db,
    networks,
    runtimes,
    clock,
    log,
    createWatchLoop,
    onLook: (ids, cannotAct) => share.setAccounts(ids, cannotAct),
  })
  const bounds = createPolicyBounds({ ...config, networks })
  await lowerPolicies({ db, bounds, log })
  const problems = await registry.look()
  if (problems.length > 0) throw new ConfigError(problems)
  await reportSharedKeys({ db, keyring, log })
  await verifyChains(registry, log)
  return {
    ...runtimes,
    registry,
    context,
    share,
    healthChecker,
    keyring,
    networks,
    bounds,
    sealer,
    prices: createPriceReader({ http: priceClient, clock }),
    close: async () => {
      await relayers.close()
      httpClient.close()
      priceClient.close()
    },
  }
}

/**
 * Checks which chain every endpoint group serves. A wrong one is a mistake in the configuration and stops the
 * start; one endpoint of several that serves another chain, and a node that does not answer, are only logged.
 * Urls of callers never stop the start: the first health check disables the relayers that use them.
 */
async function verifyChains(registry: RelayerRegistry, log: Logger): Promise<void> {
  const answers = await Promise.all(
    [...registry.endpointGroups()].map(async ([name, { runtime }]) => {
      const { network, chain } = runtime
      const each = await chain.verify({ each: true })
      const untrusted = network.rpcUrls.some((url) => url.untrusted)
      return { name, untrusted, each, answer: each.kind === 'refused' ? await chain.verify() : each }
    }),
  )
  const problems = answers.flatMap(({ untrusted, answer }) =>
    answer.kind === 'refused' && !untrusted ? [answer.refusal.detail] : [],
  )
  if (problems.length > 0) throw new ConfigError(problems)
  for (const { name, each } of answers) {
    if (each.kind === 'unknown')
      log.warn({ network: name, detail: each.detail }, 'network does not answer; retrying')
    else if (each.kind === 'refused')
      log.error({ network: name, detail: each.refusal.detail }, 'endpoint serves another chain')
  }
}
