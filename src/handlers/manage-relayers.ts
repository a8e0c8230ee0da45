import type { HandlerMap } from '../contract/operations.ts'
import type { RelayerChange } from '../relayers/manage/change.ts'
import type { ManagedRelayer } from '../relayers/manage/context.ts'
import type { RelayerManager } from '../relayers/manage/manager.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import { presentRelayer } from './present/relayer.ts'
import { readCreation, readPatched } from './read/relayer.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that these operations call. */
export interface ManageRelayersDeps {
  readonly relayerOf: RelayerReader
  readonly prepare: (relayer: Relayer) => Promise<RelayerRuntime>
  readonly manager: RelayerManager
}

type Operations = 'createRelayer' | 'getRelayer' | 'updateRelayer' | 'deleteRelayer'

/** The operations that create, read, change and delete one relayer. */
export function manageRelayersHandlers({
  relayerOf,
  prepare,
  manager,
}: ManageRelayersDeps): Pick<HandlerMap, Operations> {
  const present = async ({ relayer, logs }: ManagedRelayer) => ({
    data: presentRelayer(relayer, await prepare(relayer)),
    logs,
  })
  return {
    createRelayer: async ({ body }, { actor }) => present(await manager.create(readCreation(body), actor)),
    getRelayer: async ({ path }) =>
      present({ relayer: await requireRelayer(relayerOf, path.relayer_id), logs: [] }),
    updateRelayer: async ({ path, body }, { actor }) => {
      const change: RelayerChange = (relayer, initial) => readPatched(relayer, body, initial)
      return present(await manager.change(path.relayer_id, change, actor))
    },
    deleteRelayer: async ({ path }, { actor }) => {
      await manager.delete(path.relayer_id, actor)
      return { data: 'Relayer deleted successfully' }
    },
  }
}
