import type { StoredEntry } from '../audit/entry.ts'
import { findEntry, listEntries } from '../audit/read-store.ts'
import type { Input, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { omitUndefined } from '../lib/object.ts'
import { type ActivityRow, readActivity, type Step } from '../reports/activity-store.ts'
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
export function reportHandlers({ db }: CoreParts): Pick<HandlerMap, 'getSpendingReport' | 'getActivity'> {
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
    getActivity: async ({ query }, { principal: { visibility } }) => {
      const { step = 'hour', by = 'network' } = query
      const period = { from: new Date(query.from), to: new Date(query.to) }
      const problem = periodProblem(period, step)
      if (problem !== undefined) throw new AppError('invalid_request', `query.to: ${problem}.`)
      const { rows, completeFrom } = await readActivity(db, { ...period, step, by, visibility })
      return {
        data: omitUndefined({ rows: rows.map(presentActivity), complete_from: completeFrom?.toISOString() }),
      }
    },
  }
}

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const satisfies Record<Step, number>

/** The most steps of one answer: more would not fit into a chart. */
const MAX_STEPS = 200

function periodProblem(
  { from, to }: { readonly from: Date; readonly to: Date },
  step: Step,
): string | undefined {
  if (from >= to) return 'expected a time after query.from'
  if (to.getTime() - from.getTime() <= MAX_STEPS * STEP_MS[step]) return undefined
  return `expected a time up to ${MAX_STEPS} ${step}s after query.from`
}

function presentActivity(row: ActivityRow): Schemas['ActivityRow'] {
  return omitUndefined({
    start: row.start.toISOString(),
    network: row.network,
    name: row.name,
    others: row.isOthers ? (true as const) : undefined,
    accepted: row.accepted,
    confirmed: row.confirmed,
    failed: row.failed,
    canceled: row.canceled,
    expired: row.expired,
    fees: String(row.fees),
    unknown_fees: row.unknownFees,
    wait_median_ms: row.waitMedianMs ?? undefined,
    wait_p95_ms: row.waitP95Ms ?? undefined,
  })
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
