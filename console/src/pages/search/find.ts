import { NotFoundError } from '../../../../clients/typescript/src/index.ts'
import { forEachAtMost } from '../../live/for-each-at-most.ts'
import { hrefOf, hrefOfRelayer, hrefOfTransaction } from '../../routing/routes.ts'
import type { Session } from '../../session/session.ts'

/** Something that fits a search. */
export interface Found {
  readonly kind: 'Relayer' | 'Transaction' | 'Notification' | 'API key'
  readonly name: string
  readonly href: string
}

/** The newest transactions of a relayer among which a hash is looked for. The API finds transactions by their id alone. */
const NEWEST = 100

const AT_A_TIME = 4

/** Finds what has this id, hash or address, as far as the key sees it. */
export async function find(session: Session, text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const found = await Promise.all([
    findRelayers(session, text, signal),
    findByEvents(session, text, signal),
    findNamed(session, text, signal),
  ])
  const direct = found.flat()
  return direct.length > 0 ? direct : await findByHash(session, text, signal)
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

/** The event log knows the relayer of a transaction. */
async function findByEvents({ client, may }: Session, id: string, signal: AbortSignal): Promise<Found[]> {
  if (!may('events:read') || !isId(id)) return []
  const { items } = await client.events.list({ transaction_id: id, limit: 1, signal }).page()
  return items.flatMap(({ relayer_id }) => (relayer_id === undefined ? [] : [transaction(relayer_id, id)]))
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

/** Looks for a hash, or the id of a transaction without events, among the newest transactions of each relayer. */
async function findByHash({ client, may }: Session, text: string, signal: AbortSignal): Promise<Found[]> {
  if (!may('relayers:read') || !may('transactions:read') || text.length < 32) return []
  const wanted = text.toLowerCase()
  const found: Found[] = []
  const relayers = await Array.fromAsync(client.relayers.list({ signal }))
  const look = async ({ id: relayerId }: (typeof relayers)[number]) => {
    const { items } = await client.transactions.list(relayerId, { per_page: NEWEST, signal }).page()
    for (const { id, hash } of items)
      if (hash?.toLowerCase() === wanted || id === text) found.push(transaction(relayerId, id))
  }
  await forEachAtMost(relayers, { limit: AT_A_TIME, signal }, look)
  return found
}

function transaction(relayerId: string, id: string): Found {
  return { kind: 'Transaction', name: id, href: hrefOfTransaction(relayerId, id) }
}

/** Returns true for what the contract takes as an id; anything else would be refused. */
function isId(text: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(text)
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
