import type { Principal } from '../access/principal.ts'
import { seesEverything } from '../access/visibility.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { findNotification } from '../notifications/store.ts'
import type { RelayerChange } from '../relayers/manage/change.ts'
import type { ManagedRelayer } from '../relayers/manage/context.ts'
import { noNotification } from '../relayers/manage/context.ts'
import type { RelayerManager } from '../relayers/manage/manager.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import { presentRelayer } from './present/relayer.ts'
import { readCreation, readPatched } from './read/relayer.ts'
import { requireEndpointRights, requireTopUpRights } from './require-relayer-rights.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that these operations call. */
export interface ManageRelayersDeps {
  readonly db: Db
  readonly relayerOf: RelayerReader
  readonly prepare: (relayer: Relayer) => Promise<RelayerRuntime>
  readonly manager: RelayerManager
}

type Operations = 'createRelayer' | 'getRelayer' | 'updateRelayer' | 'deleteRelayer' | 'acceptNonces'

/** The operations that create, read, change and delete one relayer. */
export function manageRelayersHandlers({
  db,
  relayerOf,
  prepare,
  manager,
}: ManageRelayersDeps): Pick<HandlerMap, Operations> {
  const present = async ({ relayer, logs }: ManagedRelayer) => ({
    data: presentRelayer(relayer, await prepare(relayer)),
    logs,
  })
  return {
    createRelayer: async ({ body }, { principal, actor }) => {
      const relayer = readCreation(body)
      requireTopUpRights(principal, relayer)
      requireEndpointRights(principal, relayer)
      return present(await manager.create(relayer, actor))
    },
    getRelayer: async ({ path }) =>
      present({ relayer: await requireRelayer(relayerOf, path.relayer_id), logs: [] }),
    updateRelayer: async ({ path, body }, { principal, actor }) => {
      await requireOwnRecords(db, body, principal)
      const change: RelayerChange = (relayer, initial) => {
        const wanted = readPatched(relayer, body, initial)
        requireTopUpRights(principal, wanted, relayer)
        requireEndpointRights(principal, wanted, relayer)
        return wanted
      }
      return present(await manager.change(path.relayer_id, change, actor))
    },
    acceptNonces: async ({ path, body }, { actor }) =>
      present(await manager.acceptNonces(path.relayer_id, body.reason, actor)),
    deleteRelayer: async ({ path }, { actor }) => {
      await manager.delete(path.relayer_id, actor)
      return { data: 'Relayer deleted successfully' }
    },
  }
}

/**
 * A key that is limited to some relayers connects them with nothing that it does not see: a webhook of others would get their events, and the
 * answers would tell which accounts signers have.
 * @throws AppError `insufficient_scope`, 404 `notification_not_found`
 */
async function requireOwnRecords(
  db: Db,
  { signer_id: signerId, notification_id: notificationId }: Schemas['UpdateRelayerRequest'],
  { id, visibility }: Principal,
): Promise<void> {
  if (seesEverything(visibility)) return
  if (signerId !== undefined)
    throw new AppError(
      'insufficient_scope',
      `API key ${id} is limited to some relayers, and cannot change signer_id.`,
    )
  if (typeof notificationId !== 'string' || (await findNotification(db, notificationId, visibility))) return
  throw noNotification(notificationId)
}
