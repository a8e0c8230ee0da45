import type { Logger } from 'pino'
import type { Actor } from '../access/principal.ts'
import type { Config } from '../config/types.ts'
import type { Database } from '../database/db.ts'
import { AppError } from '../errors.ts'
import type { Clock } from '../lib/time.ts'
import { createNetworkManager, type NetworkManager, readNetworkChanges } from '../networks/manage.ts'
import { hasUntrustedEndpoints, type Network, networkId } from '../networks/network.ts'
import { createInterfaceManager, type InterfaceManager } from '../relayers/interfaces/manager.ts'
import { createRelayerManager, type RelayerManager } from '../relayers/manage/manager.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { reportKeyOf } from '../relayers/shared-keys.ts'
import { allRelayers, relayersSigningWith } from '../relayers/store.ts'
import { createKeyCreator, type KeyCreator } from '../signers/creation/create-key.ts'
import { createSignerManager, type SignerManager } from '../signers/manage.ts'
import type { ConnectionContext } from '../signers/providers/connect.ts'
import { type ResetResult, resetNetwork } from '../transactions/store/reset-store.ts'
import { createHealthWorker, type HealthWorker } from '../workers/health-worker.ts'
import type { RuntimeSet } from './create-runtimes.ts'

interface ManagementOptions {
  readonly config: Config
  readonly database: Database
  readonly runtimeSet: RuntimeSet
  /** Calls the key services that callers name. */
  readonly connection: ConnectionContext
  /** Identifies this process in leases. */
  readonly owner: string
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The managers of relayers, ABIs, signers and networks for callers, and the loop that checks the health of
 * relayers.
 */
interface Management {
  readonly manager: RelayerManager
  readonly interfaces: InterfaceManager
  readonly signers: SignerManager
  readonly keyCreator: KeyCreator
  readonly networks: NetworkManager
  readonly resetChain: ChainReset
  /** Checks the health of relayers at intervals. */
  readonly health: HealthWorker
}

/** Creates the managers and the health worker. */
export function createManagement(options: ManagementOptions): Management {
  const { config, database, runtimeSet, connection, owner, clock, log } = options
  const { db } = database
  const { networks, bounds, keyring, sealer, prepare, verify } = runtimeSet
  const { allowPrivateUrls, healthIntervalMs: intervalMs } = config
  const { healthChecker: checker } = runtimeSet
  const checked = checker.checkNow
  return {
    manager: createRelayerManager({
      db,
      networks,
      findKey: keyring.find,
      verify,
      bounds,
      allowPrivateUrls,
      prepare,
      checked,
      reportKey: (relayer) => reportKeyOf({ db, keyring, log }, relayer),
    }),
    interfaces: createInterfaceManager(db),
    signers: createSignerManager({ db, sealer, connection, usersOf: relayersSigningWith }),
    keyCreator: createKeyCreator({ db, clock, sealer, connection }),
    networks: createNetworkManager({ db, networks, policy: { allowPrivate: allowPrivateUrls }, verify }),
    resetChain: createChainReset({ database, runtimeSet, clock }),
    health: createHealthWorker({ db, clock, log, owner, checker, prepare, intervalMs }),
  }
}

interface ChainResetDeps {
  readonly database: Database
  readonly runtimeSet: RuntimeSet
  readonly clock: Clock
}

/** Starts over on a test network whose chain was reset, for a caller. */
type ChainReset = (network: Network, actor: Actor) => Promise<ResetResult>

/**
 * Creates the reset for callers. Without a proof, a transaction that it ends could still be included, and
 * endpoints that a caller chose can prove anything. So only the operator's endpoints of the network count,
 * and only the relayers that use them start over.
 * @throws AppError `not_supported` for a main network; `chain_not_reset` without a proof
 */
function createChainReset({ database: { db }, runtimeSet, clock }: ChainResetDeps): ChainReset {
  const { networks, context, healthChecker, prepare } = runtimeSet
  return async (network, actor) => {
    const relayers = (await allRelayers(db)).filter(
      ({ networkType, network: name, customRpcUrls }) =>
        networkType === network.type && name === network.name && customRpcUrls === undefined,
    )
    if (!network.isTestnet) throw mainNetwork(network)
    // The old chain may be back, and then this check enables what an earlier one disabled.
    const checked = await Promise.all(relayers.map((relayer) => healthChecker.checkNow(relayer)))
    if (hasUntrustedEndpoints(network) || !(await isProved(checked))) throw notReset(network)
    const now = new Date(clock.now())
    const result = await resetNetwork(db, network, { now, includesOwnEndpoints: false, author: actor })
    networks.update(await readNetworkChanges(db))
    // The check enables the relayers again, so that the caller can send at once.
    await Promise.all(relayers.map((relayer) => healthChecker.checkNow(relayer)))
    return result
  }

  async function isProved(relayers: readonly Relayer[]): Promise<boolean> {
    if (relayers.some(({ disabledReason }) => NONCE_REASONS.has(disabledReason?.type ?? ''))) return true
    for (const relayer of relayers)
      if ((await context.findChainReset(await prepare(relayer))) !== undefined) return true
    return false
  }
}

/** A relayer is disabled for them when the chain forgot a nonce that it had used. */
const NONCE_REASONS: ReadonlySet<string> = new Set(['NonceSyncFailed', 'SequenceSyncFailed'])

function mainNetwork({ name }: Network): AppError {
  return new AppError(
    'not_supported',
    `Network ${name} is a main network. The API resets only test networks; an operator can use: relayer reset ${name} --confirm ${name}`,
  )
}

function notReset(network: Network): AppError {
  return new AppError(
    'chain_not_reset',
    `Nothing proves that the chain of network ${networkId(network)} was reset, so its transactions can still be included. An operator who is sure can use, on the database: relayer reset ${network.name}`,
  )
}
