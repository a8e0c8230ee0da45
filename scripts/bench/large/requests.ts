import pg from 'pg'
import { HISTORY_DAYS, LARGE_RELAYERS, NOTIFICATION } from './fill.ts'

const DAY_MS = 86_400_000

/** A report is about so many transactions, whatever the length of the history. */
const REPORTED = 300

/** A page that a history of ten thousand has as well, counted from the newest transaction. */
const SHARED_PAGE = 400

const [BUSY = '', QUIET = ''] = LARGE_RELAYERS

/** The paths of all lists and searches of the API, below `/api/v1`, by name. They name records of the middle of the history. */
export async function requestsOn(
  databaseUrl: string,
  rows: number,
): Promise<Readonly<Record<string, string>>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { id, hash, nonce, at } = await sampleOf(client, rows / 2)
    const { request_id: requestId } = await auditedOf(client, id)
    const newest = await newestEvent(client)
    const event = await eventOf(client)
    const time = (ms: number) => encodeURIComponent(new Date(ms).toISOString())
    const end = await newestTime(client)
    const busy = `/relayers/${BUSY}/transactions`
    const pages = Math.floor(rows / 2 / 10)
    return {
      'list, first page': busy,
      'list, 100 of a page': `${busy}?per_page=100`,
      'list, no record, only the total': `${busy}?per_page=0`,
      [`list, page ${SHARED_PAGE}`]: `${busy}?page=${SHARED_PAGE}`,
      'list, page in the middle': `${busy}?page=${Math.floor(pages / 2)}`,
      'list, last page': `${busy}?page=${pages}`,
      'list of a smaller relayer': `/relayers/${QUIET}/transactions`,
      'list, confirmed': `${busy}?status=confirmed`,
      'list, failed': `${busy}?status=failed`,
      'list, expired, of which there are none': `${busy}?status=expired`,
      'list, pending': `${busy}?status=pending`,
      'list, confirmed, last page': `${busy}?status=confirmed&page=${Math.floor(pages * 0.96)}`,
      'one transaction': `${busy}/${id}`,
      'one transaction, by nonce': `${busy}/by-nonce/${nonce}`,
      'search, everything': '/transactions',
      'search by hash': `/transactions?hash=${hash}`,
      'search by id': `/transactions?id=${id}`,
      'search by idempotency key': `/transactions?relayer_id=${BUSY}&idempotency_key=order-${rows / 2}`,
      'search by status': '/transactions?status=failed',
      'search by status, of which there are none': `/transactions?relayer_id=${BUSY}&status=expired`,
      'search by network type': '/transactions?network_type=evm',
      'search by receiver, whom none pays': '/transactions?to=0x00000000000000000000000000000000000000ff',
      'search, a day in the middle': `/transactions?created_after=${time(at)}&created_before=${time(at + DAY_MS)}`,
      'search, the newest day': `/transactions?created_after=${time(end - DAY_MS)}`,
      'search, before a time in the middle, one relayer': `/transactions?relayer_id=${BUSY}&created_before=${time(at)}`,
      'search, next page in the middle': `/transactions?cursor=${id}`,
      'events, from the first one': '/events',
      'events, the newest ones': `/events?after=${newest - 100n}`,
      'events of a relayer': `/events?relayer_id=${QUIET}`,
      'events of a transaction': `/events?transaction_id=${event}`,
      'events of a type, of which there are none': '/events?type=transaction_stuck',
      'events of a relayer and a type, of which there are none': `/events?relayer_id=${BUSY}&type=alert`,
      'deliveries, first page': `/notifications/${NOTIFICATION}/deliveries`,
      'deliveries, dead letters': `/notifications/${NOTIFICATION}/deliveries?status=dead`,
      'deliveries, waiting': `/notifications/${NOTIFICATION}/deliveries?status=waiting`,
      report: `/reports/spending?from=${time(end - (REPORTED / rows) * HISTORY_DAYS * DAY_MS)}&to=${time(end)}`,
      'report of a relayer': `/reports/spending?from=${time(end - (REPORTED / rows) * HISTORY_DAYS * DAY_MS)}&to=${time(end)}&relayer_id=${BUSY}`,
      'audit log, newest entries': '/audit',
      'audit log by target': `/audit?target_type=transaction&target_id=${id}`,
      'audit log by request': `/audit?request_id=${requestId}`,
      'audit log by actor': '/audit?actor=root',
      'audit log by actor, who did nothing': '/audit?actor=nobody',
      'audit log by action, which no one took': '/audit?action=deleteSigner',
      'audit log of a day': `/audit?from=${time(at)}&to=${time(at + DAY_MS)}`,
      approvals: '/approvals',
      'approvals, waiting': '/approvals?state=waiting',
      'approvals, refused': '/approvals?state=refused',
      'status of a relayer': `/relayers/${BUSY}/status`,
      relayers: '/relayers',
    }
  } finally {
    await client.end()
  }
}

async function sampleOf(client: pg.Client, position: number) {
  const { rows } = await client.query<{ id: string; hash: string; nonce: string; created_at: Date }>(
    `select t.id, a.hash, t.nonce, t.created_at from transactions t join attempts a on a.transaction_id = t.id where t.relayer_id = $1
      and t.position >= $2 order by t.position limit 1`,
    [BUSY, position],
  )
  const [row] = rows
  if (row === undefined) throw new Error('The history is empty.')
  return { ...row, at: row.created_at.getTime() }
}

async function auditedOf(client: pg.Client, id: string) {
  const { rows } = await client.query<{ request_id: string }>(
    'select request_id from audit_log where chain = $1 and number = (select nonce + 1 from transactions where id = $2)',
    [`relayer:${BUSY}`, id],
  )
  return rows[0] ?? { request_id: '' }
}

async function newestTime(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ at: Date }>(
    'select created_at as at from transactions where relayer_id = $1 order by position desc limit 1',
    [BUSY],
  )
  return rows[0]?.at.getTime() ?? 0
}

async function newestEvent(client: pg.Client): Promise<bigint> {
  const { rows } = await client.query<{ number: string }>(
    'select coalesce(max(number), 0) as number from events',
  )
  return BigInt(rows[0]?.number ?? 0)
}

/** The transaction of the oldest event that has one. */
async function eventOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ transaction_id: string }>(
    'select transaction_id from events where transaction_id is not null order by number limit 1',
  )
  return rows[0]?.transaction_id ?? ''
}
