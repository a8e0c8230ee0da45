import type { Logger } from 'pino'
import type { Config } from '../config/load.ts'
import type { Database } from '../database/engine.ts'
import type { Clock } from '../lib/time/clock.ts'
import { createNetworkManager, type NetworkManager } from '../networks/manage.ts'
import { createInterfaceManager, type InterfaceManager } from '../relayers/interfaces/manager.ts'
import { createRelayerManager, type RelayerManager } from '../relayers/manage/manager.ts'
import { relayersSigningWith } from '../relayers/store.ts'
import { createSignerManager, type SignerManager } from '../signers/manage.ts'
import type { ConnectionContext } from '../signers/providers/connect.ts'
import { createHealthWorker, type HealthWorker } from '../workers/health-worker.ts'
import type { RuntimeSet } from './create-runtimes.ts'
import { reportKeyOf } from './report-shared-keys.ts'
import { type ChainReset, createChainReset } from './reset-chain.ts'

interface ManagementOptions {
  readonly config: Config
  readonly database: Database
  readonly runtimeSet: RuntimeSet
  /** Asks the key services that callers name. */
  readonly connection: ConnectionContext
  /** Identifies this process in leases. */
  readonly owner: string
  readonly clock: Clock
  readonly log: Logger
}

/** The managers of relayers, ABIs, signers and networks for callers, and the loop that checks the health of relayers. */
export interface Management {
  readonly manager: RelayerManager
  readonly interfaces: InterfaceManager
  readonly signers: SignerManager
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
    networks: createNetworkManager({ db, networks, policy: { allowPrivate: allowPrivateUrls }, verify }),
    resetChain: createChainReset({ database, runtimeSet, clock }),
    health: createHealthWorker({ db, clock, log, owner, checker, prepare, intervalMs }),
  }
}
