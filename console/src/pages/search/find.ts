import { NotFoundError, type Schemas } from '../../../../clients/typescript/src/index.ts'
import { hrefOf, hrefOfRelayer, hrefOfTransaction } from '../../routing/routes.ts'
import type { Session } from '../../session/session.ts'

/** Something that fits a search. */
export interface Found {
  readonly kind: 'Relayer' | 'Transaction' | 'Transactions' | 'Notification' | 'API key'
  readonly name: string
  readonly href: string
  /** The payment of a found transaction, and the time of its acceptance. */
  readonly transaction?: Schemas['Transaction']
}

/** The transactions to an address that a search shows at once; a list has the others. */
const NEWEST = 10

/** Finds what has this id, hash, address or reference, as far as the key sees it. */
export async function find(session: Session, text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const found = await Promise.all([
    findRelayers(session, text, signal),
    findTransaction(session, text, signal),
    findByReceiver(session, text, signal),
    findByReference(session, text, signal),
    findNamed(session, text, signal),
  ])
  return found.flat()
}

async function findRelayers({ client, may }: Session, text: string, signal: AbortSignal): Promise<Found[]> {
  if (!may('relayers:read')) return []
  const wanted = text.toLowerCase()
  const relayers = await Array.fromAsync(client.relayers.list({ signal }))
  return relayers
    .filter(({ id, name, address }) =>
      [id, name, address].some((value) => value.toLowerCase().includes(wanted)),
    )
    .map(({ id, name }) => ({ kind: 'Relayer', name, href: hrefOfRelayer(id) }))
}

/** Finds a transaction by its id, or by the hash of any of its attempts. */
async function findTransaction(
  { client, may }: Session,
  text: string,
  signal: AbortSignal,
): Promise<Found[]> {
  if (!may('transactions:read')) return []
  const filters = [...(isId(text) ? [{ id: text }] : []), ...(isHash(text) ? [{ hash: text }] : [])]
  const pages = await Promise.all(
    filters.map((filter) => client.transactions.search({ ...filter, limit: 1, signal }).page()),
  )
  return pages.flatMap(({ items }) => items.map(transactionOf))
}

async function findByReceiver({ client, may }: Session, to: string, signal: AbortSignal): Promise<Found[]> {
  if (!may('transactions:read') || !isAddress(to)) return []
  const { items } = await client.transactions.search({ to, limit: NEWEST, signal }).page()
  const all = {
    kind: 'Transactions',
    name: `All transactions to ${to}`,
    href: hrefOf(['transactions'], { to }),
  } as const
  return items.length > 1 ? [...items.map(transactionOf), all] : items.map(transactionOf)
}

/** Finds the newest transactions with this reference of their caller. */
async function findByReference(
  { client, may }: Session,
  reference: string,
  signal: AbortSignal,
): Promise<Found[]> {
  if (!may('transactions:read') || !isReference(reference)) return []
  const { items } = await client.transactions.search({ reference, limit: NEWEST, signal }).page()
  return items.map(transactionOf)
}

async function findNamed({ client, may }: Session, id: string, signal: AbortSignal): Promise<Found[]> {
  if (!isId(id)) return []
  const [notification, key] = await Promise.all([
    may('notifications:read') && exists(client.notifications.get(id, { signal })),
    may('api-keys:read') && exists(client.apiKeys.get(id, { signal })),
  ])
  return [
    ...(notification
      ? [{ kind: 'Notification', name: id, href: hrefOf(['notifications', id]) } as const]
      : []),
    ...(key ? [{ kind: 'API key', name: id, href: hrefOf(['api-keys', id]) } as const] : []),
  ]
}

function transactionOf(transaction: Schemas['Transaction']): Found {
  const { relayer_id, id } = transaction
  return { kind: 'Transaction', name: id, href: hrefOfTransaction(relayer_id, id), transaction }
}

// The contract takes these as an id, a hash and an address; anything else would be refused.

function isId(text: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(text)
}

function isHash(text: string): boolean {
  return /^[0-9A-Za-z]{43,88}$/.test(text)
}

function isAddress(text: string): boolean {
  return /^(0x[0-9a-fA-F]{40}|[GC][A-Z2-7]{55}|[1-9A-HJ-NP-Za-km-z]{32,44})$/.test(text)
}

function isReference(text: string): boolean {
  return /^[!-~]{1,128}$/.test(text)
}

async function exists(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked
    return true
  } catch (error) {
    if (error instanceof NotFoundError) return false
    throw error
  }
}
