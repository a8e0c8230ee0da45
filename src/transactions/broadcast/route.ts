import { type BroadcastResult, NO_REPLY } from '../../chains/answer.ts'
import type { Chain } from '../../chains/chain.ts'
import { privateFallbackBlocksOf } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Transaction } from '../model/transaction.ts'

/** The endpoints that get the bytes of a transaction: the ordinary ones, the private ones, or all. */
export type Route = 'public' | 'private' | 'all'

/** Signed bytes, and the endpoints that get them. */
export interface RoutedBytes {
  readonly raw: Uint8Array
  readonly route: Route
  /** As in `Chain.broadcast`. */
  readonly mayBeInPool: boolean
  /**
   * The refused content that a no-op is compared with: it goes first, so that a node that works again takes
   * it and not the no-op.
   */
  readonly compared?: Uint8Array | undefined
}

/** Decides which endpoints get the bytes of a transaction. Pure. */
export function routeOf({ isPrivate, madePublicAt }: Pick<Transaction, 'isPrivate' | 'madePublicAt'>): Route {
  if (isPrivate !== true) return 'public'
  return madePublicAt === undefined ? 'private' : 'all'
}

type PrivateChain = Pick<Chain, 'broadcast' | 'privateBroadcast'>

/**
 * Broadcasts each item to the endpoints of its route, in order for each kind of endpoint. Private bytes of a
 * chain without private endpoints go nowhere. Where ordinary endpoints get the bytes as well, their answers
 * count: the others have had their time.
 */
export async function broadcastByRoute(
  chain: PrivateChain,
  items: readonly RoutedBytes[],
): Promise<BroadcastResult[]> {
  const all = items.flatMap(({ compared, ...item }) =>
    compared === undefined ? [item] : [{ ...item, raw: compared }, item],
  )
  const results = await broadcastAllByRoute(chain, all)
  const left = results[Symbol.iterator]()
  const next = () => left.next().value ?? NO_REPLY
  return items.map(({ compared }) => (compared === undefined ? next() : ofNoop(next(), next())))
}

/** A node that accepts the content keeps it, regardless of the no-op. */
function ofNoop(content: BroadcastResult, noop: BroadcastResult): BroadcastResult {
  return content.kind === 'accepted'
    ? { kind: 'underpriced', detail: 'a node now accepts the content' }
    : noop
}

async function broadcastAllByRoute(
  chain: PrivateChain,
  items: readonly RoutedBytes[],
): Promise<BroadcastResult[]> {
  const [publicAt, privateAt] = [positionsOf(items, 'private'), positionsOf(items, 'public')]
  const pick = (positions: readonly number[]) => positions.flatMap((position) => items[position] ?? [])
  const [ofPublic, ofPrivate] = await Promise.all([
    broadcastPublicly(chain, pick(publicAt)),
    broadcastPrivately(chain, pick(privateAt)),
  ])
  return items.map(
    (_, position) =>
      ofPublic[publicAt.indexOf(position)] ?? ofPrivate[privateAt.indexOf(position)] ?? NO_REPLY,
  )
}

/**
 * Private endpoints refuse by their own rules, and the ordinary ones get the bytes after some blocks. Pure.
 */
export function willBePublic(relayer: Relayer, transaction: Transaction): boolean {
  return routeOf(transaction) === 'private' && privateFallbackBlocksOf(relayer) !== undefined
}

/** Returns the positions of the items that do not have this route. */
function positionsOf(items: readonly RoutedBytes[], except: Route): number[] {
  return [...items.keys()].filter((position) => items[position]?.route !== except)
}

async function broadcastPublicly(
  chain: PrivateChain,
  items: readonly RoutedBytes[],
): Promise<BroadcastResult[]> {
  if (items.length === 0) return []
  return chain.broadcast(
    items.map(({ raw }) => raw),
    items.map(({ mayBeInPool }) => mayBeInPool),
  )
}

async function broadcastPrivately(
  { privateBroadcast }: PrivateChain,
  items: readonly RoutedBytes[],
): Promise<BroadcastResult[]> {
  if (items.length === 0) return []
  if (privateBroadcast === undefined) return items.map(() => WITHHELD)
  return privateBroadcast.broadcast(items.map(({ raw }) => raw))
}

const WITHHELD: BroadcastResult = {
  kind: 'withheld',
  detail: 'the network has no private_rpc_urls; it is broadcast when there are some',
}
