import type { Hex } from 'viem'
import { callApi, Unavailable, type World } from '../shared/host.ts'
import { findByKey, isEnded, readWhole } from '../shared/transactions.ts'
import type { Settings } from './config.ts'
import {
  contentOf,
  type Name,
  nameOfId,
  nameOfTask,
  networkOfId,
  type RelayedTransaction,
  signsItsContent,
} from './content.ts'
import { RpcError } from './errors.ts'
import { settleUsers } from './exposure.ts'
import type { NetworkSettings } from './networks.ts'
import { readOutcome, usersIn } from './outcome.ts'
import { type Sender, senderOn } from './sender.ts'
import { isTerminal, type Progress, type RelayStatus, statusOf } from './status.ts'

/** A request and where its transaction is. */
export interface Followed extends Name {
  readonly network: NetworkSettings
  readonly transaction: RelayedTransaction
}

/** Finds a request by its id, or by what the caller named it. @throws RpcError `unknownId` */
export async function findRequest(
  { id, caller }: { readonly id: Hex; readonly caller: string },
  { networks }: Pick<Settings, 'networks'>,
  world: World,
): Promise<Followed> {
  const network = networkOfId(id, networks)
  const asContent = network && (await findIn(network, nameOfId(id), world))
  if (asContent !== undefined) return asContent
  const name = nameOfTask(id, caller)
  const found = await Promise.all([...networks.values()].map((each) => findIn(each, name, world)))
  const [asTask] = found.filter((each) => each !== undefined)
  if (asTask !== undefined) return asTask
  throw new RpcError('unknownId', 'id: no request has this id.')
}

async function findIn(network: NetworkSettings, name: Name, world: World): Promise<Followed | undefined> {
  const found = await findByKey<RelayedTransaction>(network.relayerId, name.key, world)
  if (found === undefined) return undefined
  return {
    ...name,
    network,
    transaction: await readWhole<RelayedTransaction>(network.relayerId, found, world),
  }
}

/** Reads the status of a request, and notes its end. */
export async function readStatus(followed: Followed, settings: Settings, world: World): Promise<RelayStatus> {
  const { id, network, transaction } = followed
  const sender = await senderOn(network, world)
  const progress = await readProgress({ id, transaction }, sender)
  const status = statusOf(progress, settings)
  // What is not final may still fail, and is looked up again.
  if (isFinal(transaction))
    await settleUsers(usersOf(progress, network), { settings, sender, world }).catch((error: unknown) => {
      // The status is known all the same; what is still noted is looked up later.
      if (!(error instanceof Unavailable)) throw error
    })
  return status
}

function isFinal({ status }: RelayedTransaction): boolean {
  return isEnded(status) || status === 'confirmed'
}

/** Names the users of a request; nobody where something else was sent in its place. */
export function usersOf(
  { chainId, transaction, isContent }: Pick<Progress, 'chainId' | 'transaction' | 'isContent'>,
  network: NetworkSettings,
): readonly Hex[] {
  const content = contentOf(chainId, transaction)
  return content !== undefined && isContent ? usersIn(content, network) : []
}

/** Reads what the block did with a request, if one includes it. */
export async function readProgress(
  { id, transaction }: Pick<Followed, 'id' | 'transaction'>,
  sender: Sender,
): Promise<Progress> {
  const { chainId } = sender.network
  const { status, hash } = transaction
  const content = contentOf(chainId, transaction)
  const isContent = signsItsContent(chainId, transaction)
  const isIncluded =
    status === 'mined' || status === 'confirmed' || (status === 'failed' && transaction.receipt !== undefined)
  const outcome =
    hash === undefined || content === undefined || !isContent || !isIncluded
      ? undefined
      : await readOutcome(content, hash, sender)
  return { id, chainId, transaction, isContent, outcome }
}

/** Seconds of one question that waits. */
const WAIT_SECONDS = 5

/** Questions that wait at the same time: sending must not wait for those who wait. */
const MAX_WAITING = 40
const POLL_MS = 500
let waiting = 0

/** Waits until the status of a request is final for its clients, or the time is over. */
export async function awaitStatus(
  { followed, deadline }: { readonly followed: Followed; readonly deadline: number },
  settings: Settings,
  world: World,
): Promise<RelayStatus> {
  let seen = followed
  for (;;) {
    const status = await readStatus(seen, settings, world)
    const left = deadline - world.now()
    if (isTerminal(status) || left <= 0) return status
    seen = { ...seen, transaction: await look(seen, { waitFor: settings.waitFor, left }, world) }
  }
}

async function look(
  { network: { relayerId }, transaction }: Followed,
  { waitFor, left }: { readonly waitFor: Settings['waitFor']; readonly left: number },
  world: World,
): Promise<RelayedTransaction> {
  const { status, id } = transaction
  const isOpen = ['pending', 'sent', 'submitted'].includes(status)
  const mayWait = (isOpen || (status === 'mined' && waitFor === 'confirmed')) && waiting < MAX_WAITING
  if (!mayWait) await world.sleep(Math.min(POLL_MS, left))
  const seconds = Math.max(1, Math.min(WAIT_SECONDS, Math.ceil(left / 1000)))
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions/${id}`
  waiting += mayWait ? 1 : 0
  try {
    const query = mayWait ? `?wait=${waitFor}&timeout=${seconds}` : ''
    return (await callApi(world, { method: 'GET', path: `${path}${query}` })) as RelayedTransaction
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    await world.sleep(Math.min(POLL_MS, left))
    return transaction
  } finally {
    waiting -= mayWait ? 1 : 0
  }
}
