import { isDeepStrictEqual } from 'node:util'
import type { RelayerConfig } from '../config/load.ts'
import { AppError } from '../errors.ts'
import type { ManageDeps, Managed } from './managed.ts'
import { referTo } from './refer.ts'
import type { Relayer } from './relayer.ts'
import { resolveNetwork } from './resolve-network.ts'
import { findRelayer, lockRelayer, updateRelayer } from './store.ts'
import { checkUntrustedEndpoints } from './untrusted-endpoints.ts'

/** Looks at the change first, without holding anything (I9); then makes it out of the relayer as it is under the lock. */
export async function changeRelayer(
  deps: ManageDeps,
  id: string,
  change: (relayer: Relayer) => RelayerConfig,
): Promise<Managed> {
  const seen = requireRelayer(await findRelayer(deps.db, id), id)
  const wanted = change(seen)
  const network = resolveNetwork(deps.networks, wanted)
  const { customRpcUrls } = wanted
  const isNew = !isDeepStrictEqual(customRpcUrls, seen.customRpcUrls)
  const logs = isNew && customRpcUrls ? await checkUntrustedEndpoints(deps, network, customRpcUrls) : []
  const changed = await deps.db.transaction().execute(async (tx) => {
    const present = requireRelayer(await lockRelayer(tx, id, 'update'), id)
    const next = change(present)
    resolveNetwork(deps.networks, next)
    if (next.notificationId !== present.notificationId) await referTo(tx, next.notificationId)
    return updateRelayer(tx, { ...next, address: present.address })
  })
  // What else can be changed says nothing about the health of a relayer, and the caller need not wait for it.
  const matters = isNew || !isDeepStrictEqual(wanted.policies, seen.policies)
  return { relayer: matters ? await deps.checked(changed) : changed, logs }
}

function requireRelayer(relayer: Relayer | undefined, id: string): Relayer {
  if (relayer === undefined) throw new AppError('relayer_not_found', `There is no relayer ${id}.`)
  return relayer
}
