import type { StoredEntry } from '../audit/entry.ts'
import { findEntry, listEntries } from '../audit/read-store.ts'
import type { Input, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { omitUndefined } from '../lib/object.ts'
import { type ReportRow, reportCsv } from '../reports/report-rows.ts'
import { readReport } from '../reports/report-store.ts'
import type { CoreParts } from './service.ts'

/** The most entries in one answer; a larger `limit` counts as this. */
const MAX_LIMIT = 100

/** The operations of the tag Audit. */
export function auditHandlers({ db }: CoreParts): Pick<HandlerMap, 'listAuditEntries'> {
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
    person: entry.person && omitUndefined(entry.person),
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

/** The operations of the tag Reports. */
export function reportHandlers({ db }: CoreParts): Pick<HandlerMap, 'getSpendingReport'> {
  return {
    getSpendingReport: async ({ query }, { principal: { visibility }, signal, mediaType }) => {
      const [from, to] = [new Date(query.from), new Date(query.to)]
      if (from >= to) throw new AppError('invalid_request', 'query.to: expected a time after query.from.')
      const report = { from, to, relayerId: query.relayer_id, visibility }
      const rows = (await readReport(db, report, signal)).map(presentRow)
      if (mediaType === 'text/csv')
        return { status: 200, body: reportCsv(rows), contentType: 'text/csv; charset=utf-8' } as const
      return { status: 200, body: { success: true, data: rows } } as const
    },
  }
}

function presentRow(row: ReportRow): Schemas['SpendingReportRow'] {
  return {
    day: row.day,
    relayer_id: row.relayerId,
    requested_by: row.requestedBy ?? null,
    network: row.network,
    asset: row.asset,
    value: String(row.value),
    fees: String(row.fees),
    transactions: row.transactions,
    unknown_values: row.unknownValues,
    unknown_fees: row.unknownFees,
    earned: String(row.earned),
    unknown_earned: row.unknownEarned,
  }
}
