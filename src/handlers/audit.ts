import type { StoredEntry } from '../audit/entry.ts'
import { findEntry, listEntries } from '../audit/read-store.ts'
import type { HandlerMap, Input, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'

/** The most entries in one answer; a larger `limit` counts as this. */
const MAX_LIMIT = 100

/** The parts of the service that these operations call. */
export interface AuditHandlerDeps {
  readonly db: Db
}

/** The operations of the tag Audit. */
export function auditHandlers({ db }: AuditHandlerDeps): Pick<HandlerMap, 'listAuditEntries'> {
  return {
    listAuditEntries: async ({ query }) => {
      const entries = await listEntries(db, {
        actor: query.actor,
        action: query.action,
        targetType: query.target_type,
        targetId: query.target_id,
        requestId: query.request_id,
        from: query.from === undefined ? undefined : new Date(query.from),
        to: query.to === undefined ? undefined : new Date(query.to),
        before: await findBefore(db, query),
        limit: Math.min(MAX_LIMIT, query.limit ?? MAX_LIMIT),
      })
      return { data: entries.map(presentEntry) }
    },
  }
}

/** @throws AppError `invalid_request` for an id that no entry has */
async function findBefore(
  db: Db,
  { before: id }: Input<'listAuditEntries'>['query'],
): Promise<StoredEntry | undefined> {
  if (id === undefined) return undefined
  const slash = id.lastIndexOf('/')
  const entry = await findEntry(db, { chain: id.slice(0, slash), number: BigInt(id.slice(slash + 1)) })
  if (entry === undefined) throw new AppError('invalid_request', `query.before: there is no entry ${id}.`)
  return entry
}

/** Converts an entry to the form of the contract. */
function presentEntry(entry: StoredEntry): Schemas['AuditEntry'] {
  return omitUndefined({
    id: `${entry.chain}/${entry.number}`,
    chain: entry.chain,
    number: entry.number.toString(),
    at: entry.at.toISOString(),
    actor: entry.actor,
    address: entry.address,
    request_id: entry.requestId,
    action: entry.action,
    target_type: entry.targetType as Schemas['AuditTargetType'],
    target_id: entry.targetId,
    before: entry.before && { ...entry.before },
    after: entry.after && { ...entry.after },
    hash: Buffer.from(entry.hash).toString('hex'),
  })
}
