import { ApiRefusal, isRecord, type World } from '../shared/host.ts'
import { isEnded, readWhole } from '../shared/transactions.ts'
import type { Settings } from './config.ts'
import { type RelayedTransaction, signsItsContent } from './content.ts'
import { settleUsers } from './exposure.ts'
import type { NetworkSettings } from './networks.ts'
import { usersOf } from './progress.ts'
import { senderOn } from './sender.ts'

interface Changed {
  readonly network: NetworkSettings
  readonly transaction: RelayedTransaction
}

/** Notes the end of a request that an event of the service tells, so that nobody has to look it up later. */
export async function noteEvent(event: unknown, settings: Settings, world: World): Promise<void> {
  const { payload } = isRecord(event) ? event : {}
  const { status } = isRecord(payload) ? payload : {}
  if (typeof status !== 'string' || !(isEnded(status) || status === 'confirmed')) return
  const changed = await readChanged(event, settings, world)
  if (changed === undefined) return
  const { network, transaction } = changed
  const { chainId } = network
  const isContent = signsItsContent(chainId, transaction)
  const users = usersOf({ chainId, transaction, isContent }, network)
  await settleUsers(users, { settings, sender: await senderOn(network, world), world })
}

/** Reads the transaction of an event; undefined for one that is no request of a network of the plugin. */
async function readChanged(event: unknown, settings: Settings, world: World): Promise<Changed | undefined> {
  const { type, payload } = isRecord(event) ? event : {}
  const { id, relayer_id: relayerId } = isRecord(payload) ? payload : {}
  const network = [...settings.networks.values()].find((each) => each.relayerId === relayerId)
  if (type !== 'transaction_update' || network === undefined || typeof id !== 'string') return undefined
  try {
    const transaction = await readWhole<RelayedTransaction>(network.relayerId, { id }, world)
    return /^0x[0-9a-f]{64}$/.test(transaction.reference ?? '') ? { network, transaction } : undefined
  } catch (error) {
    // It was deleted since.
    if (error instanceof ApiRefusal) return undefined
    throw error
  }
}
