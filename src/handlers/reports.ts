import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { readReport } from '../reports/read-report.ts'
import { reportCsv } from '../reports/report-csv.ts'
import type { ReportRow } from '../reports/report-rows.ts'

/** The parts of the service that this operation calls. */
export interface ReportHandlerDeps {
  readonly db: Db
}

/** The operations of the tag Reports. */
export function reportHandlers({ db }: ReportHandlerDeps): Pick<HandlerMap, 'getSpendingReport'> {
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
  }
}
