import type { Hex } from 'viem'
import type { World } from '../shared/host.ts'
import { digest, findByKey, isEnded, type SentTransaction } from '../shared/transactions.ts'
import { RpcError } from './errors.ts'
import type { NetworkSettings } from './networks.ts'
import type { AskedPayment, Authorization, Content } from './wire.ts'

/** A transaction of this plugin as the service shows it. */
export interface RelayedTransaction extends SentTransaction {
  readonly relayer_id: string
  readonly reference?: string
  readonly authorization_list?: readonly {
    readonly chain_id: number
    readonly address: string
    readonly nonce: number | string
    readonly y_parity: number
    readonly r: string
    readonly s: string
  }[]
}

/**
 * The id of a request is the hash of what was signed, so any number of sends of the same content have one id,
 * in every process and after any crash. It begins with four bytes of the chain, which tell where to look.
 * What failed for good can be tried again later, as a further attempt with an id of its own.
 */
export function idOf({ chainId, to, data, authorizations }: Content, attempt: number): Hex {
  const list = authorizations.map(({ address, nonce, yParity, r, s, chainId: chain }) =>
    [address, chain, nonce, yParity, r, s].join(),
  )
  return `0x${tagOf(chainId)}${digest([String(chainId), to, data, ...list, String(attempt)]).slice(8)}`
}

/** The first four bytes of an id, in hexadecimal digits. */
function tagOf(chainId: number): string {
  return digest(['chain', String(chainId)]).slice(0, 8)
}

/** Finds the chain of an id. */
export function networkOfId(
  id: Hex,
  networks: ReadonlyMap<number, NetworkSettings>,
): NetworkSettings | undefined {
  return [...networks.values()].find(({ chainId }) => id.slice(2, 10) === tagOf(chainId))
}

/** A request by its id, and the idempotency key of its transaction: so that is the only record of it. */
export interface Name {
  readonly id: Hex
  readonly key: string
}

function nameOf(content: Content, attempt: number): Name {
  return nameOfId(idOf(content, attempt))
}

/** Names a request by the id that its content has. */
export function nameOfId(id: Hex): Name {
  return { id, key: `gasless:${id}` }
}

/** Names a request by what an application calls it; those of other applications are others. */
export function nameOfTask(taskId: Hex, caller: string): Name {
  return { id: taskId, key: `gasless:task:${digest([caller, taskId])}` }
}

/** Longer than any client repeats a send by itself, in ms. */
const AGAIN_MS = 600_000

/** The same content is tried at most so often. */
const MAX_ATTEMPTS = 5

/** What is known of a content: its newest transaction, or the name of the next one. */
export interface Known extends Name {
  readonly transaction: RelayedTransaction | undefined
}

/** Finds what was sent of a content. @throws RpcError `taskIdExists` */
export async function findSent(
  { content, taskId, caller }: Pick<Order, 'content' | 'taskId' | 'caller'>,
  relayerId: string,
  world: Pick<World, 'api' | 'now'>,
): Promise<Known> {
  const find = (key: string) => findByKey<RelayedTransaction>(relayerId, key, world)
  if (taskId !== undefined) {
    const name = nameOfTask(taskId, caller)
    const transaction = await find(name.key)
    if (transaction === undefined || transaction.reference === idOf(content, 1))
      return { ...name, transaction }
    throw new RpcError('taskIdExists', 'taskId: it names another request.')
  }
  for (let attempt = 1; ; attempt += 1) {
    const name = nameOf(content, attempt)
    const transaction = await find(name.key)
    if (transaction === undefined) return { ...name, transaction }
    const isOld = world.now() - Date.parse(transaction.created_at) > AGAIN_MS
    if (!isEnded(transaction.status) || !isOld || attempt === MAX_ATTEMPTS) return { ...name, transaction }
  }
}

/** A request to send a content. */
export interface Order {
  readonly content: Content
  readonly payment: AskedPayment
  /** What the application calls it. */
  readonly taskId: Hex | undefined
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/**
 * True if a transaction signs what was asked for, and nothing in its place: its reference is the first id of
 * the content.
 */
export function signsItsContent(chainId: number, transaction: RelayedTransaction): boolean {
  const content = contentOf(chainId, transaction)
  return content !== undefined && idOf(content, 1) === transaction.reference
}

/** Reads the content of a transaction as it is signed now; undefined for one without data. */
export function contentOf(chainId: number, sent: RelayedTransaction): Content | undefined {
  const { to, data, authorization_list: list = [] } = sent
  if (to === undefined || data === undefined) return undefined
  const authorizations = list.map(
    ({ address, chain_id, nonce, y_parity, r, s }): Authorization => ({
      address: address.toLowerCase() as Hex,
      chainId: chain_id,
      nonce: BigInt(nonce),
      yParity: y_parity === 0 ? 0 : 1,
      r: r.toLowerCase() as Hex,
      s: s.toLowerCase() as Hex,
    }),
  )
  return { chainId, to: to.toLowerCase() as Hex, data: data.toLowerCase() as Hex, authorizations }
}
