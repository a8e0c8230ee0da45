import type { RelayerConfig } from '../config/load.ts'
import { changeRelayer } from './change.ts'
import { createRelayer } from './create.ts'
import { deleteRelayer } from './delete.ts'
import type { ManageDeps, Managed } from './managed.ts'
import type { Relayer } from './relayer.ts'

/** What callers can do with relayers. Each is done as a whole or not at all, and throws AppError when it is refused. */
export interface RelayerManager {
  /** 400 for what cannot be, 404 for a signer or notification that is not there, 409 for an id that is taken. */
  create(relayer: RelayerConfig): Promise<Managed>
  /**
   * `change` gives what the relayer is to be, from what it is. It is asked more than once, the last time about the relayer as it is when
   * nobody else can change it. 404 when there is no such relayer.
   */
  change(id: string, change: (relayer: Relayer) => RelayerConfig): Promise<Managed>
  /** 400 while transactions are unfinished, 404 when there is no such relayer. */
  delete(id: string): Promise<void>
}

export function createRelayerManager(deps: ManageDeps): RelayerManager {
  return {
    create: (relayer) => createRelayer(deps, relayer),
    change: (id, change) => changeRelayer(deps, id, change),
    delete: (id) => deleteRelayer(deps, id),
  }
}
