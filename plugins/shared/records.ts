import { CallError } from './call-error.ts'
import { type HostApi, isRecord } from './host.ts'

/** The records of one request to the service. */
const PAGE = 100

/** Who has more asks the service for an export, which has no such limit. */
const MAX_PAGES = 500

/** Lists the transactions of the service that have all of this, the newest first. @throws CallError */
export async function* listTransactions<Record>(
  filters: Readonly<{ [name: string]: string }>,
  api: HostApi,
): AsyncGenerator<Record> {
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = new URLSearchParams({
      ...filters,
      limit: String(PAGE),
      ...(cursor !== undefined && { cursor }),
    })
    const found = await search<Record>(`/api/v1/transactions?${query}`, api)
    yield* found.records
    if (found.next === undefined) return
    cursor = found.next
  }
  const message = `More than ${PAGE * MAX_PAGES} payments: export them with GET /api/v1/reports/transactions.`
  throw new CallError(400, 'report_too_large', message)
}

async function search<Record>(path: string, api: HostApi) {
  const { body } = await api.request({ method: 'GET', path }).catch(() => ({ body: undefined }))
  const { data, pagination } = isRecord(body) ? body : {}
  if (!Array.isArray(data))
    throw new CallError(503, 'unavailable', 'The service does not list its transactions now. Ask again.')
  const next = isRecord(pagination) ? pagination.next_cursor : undefined
  return { records: data as Record[], next: typeof next === 'string' ? next : undefined }
}
