import type { Hex } from 'viem'
import { ApiRefusal, isRecord, type World } from '../shared/host.ts'
import { isEnded, readWhole } from '../shared/transactions.ts'
import type { NetworkSettings, Settings } from './config.ts'
import { type RelayedTransaction, signsItsContent } from './content.ts'
import { settleUsers } from './exposure.ts'
import { readProgress, usersOf } from './progress.ts'
import { senderOn } from './sender.ts'
import { asDraft, type RelayStatus, statusOf } from './status.ts'

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

/** A notification of Gelato's dialect. */
export interface RelayNotification {
  readonly event: `transaction.${'pending' | 'submitted' | 'success' | 'rejected' | 'reverted'}`
  readonly data: RelayStatus
}

const NAMES: Readonly<Record<RelayStatus['status'], RelayNotification['event']>> = {
  100: 'transaction.pending',
  110: 'transaction.submitted',
  200: 'transaction.success',
  210: 'transaction.success',
  400: 'transaction.rejected',
  500: 'transaction.reverted',
}

/** Reads from an event of the service what whoever follows a request is told; undefined for anything else. */
export async function notificationOf(
  event: unknown,
  settings: Settings,
  world: World,
): Promise<RelayNotification | undefined> {
  const changed = await readChanged(event, settings, world)
  if (changed === undefined) return undefined
  const { network, transaction } = changed
  const id = transaction.reference as Hex
  const progress = await readProgress({ id, transaction }, await senderOn(network, world))
  const data = asDraft(statusOf(progress, settings))
  return { event: NAMES[data.status], data }
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
