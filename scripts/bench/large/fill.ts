import pg from 'pg'
import type { Draft } from '../../../src/chains/attempt.ts'
import type { ChainRequest } from '../../../src/chains/request.ts'
import { encodeDraft, encodeRequest } from '../../../src/transactions/store/codec.ts'
import { relayersOf } from '../support/accounts.ts'

/** The relayers of a large history. The first one has half of the transactions, the others share the rest. */
export const LARGE_RELAYERS = relayersOf(20)

/** The notification of the relayers with an even number. */
export const NOTIFICATION = 'ops'

/** The history ends two days ago, because the service asks the chain again for the blocks of the last day. */
const NEWEST_DAYS = 2

/** The history is this many days long, however many transactions it has. */
export const HISTORY_DAYS = 300

/** Events are kept for this many days (`RELAYER_EVENT_RETENTION_DAYS`), counted from the end of the history. */
const EVENT_DAYS = 30

/** The tables with a row or more for each transaction. Their indexes are made after their rows, which takes half of the time. */
const FILLED = [
  'transactions',
  'attempts',
  'idempotency_keys',
  'approvals',
  'audit_log',
  'events',
  'deliveries',
]

/** Parallel connections, one for each core of a small machine. */
const CONNECTIONS = 2

const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'

/** The transfer of a token to `receiverOf(n)`, where MARK stands for the receiver. */
const REQUEST: ChainRequest = {
  type: 'evm',
  to: TOKEN,
  value: 0n,
  data: `0xa9059cbb${'0'.repeat(24)}MARK${(1_000_000).toString(16).padStart(64, '0')}`,
  gasLimit: 65_000n,
  speed: 'average',
}

const DRAFT: Draft = {
  type: 'evm',
  to: TOKEN,
  value: 0n,
  data: REQUEST.data ?? '0x',
  gasLimit: 65_000n,
  fees: { kind: 'eip1559', maxFeePerGas: 30_000_000_000n, maxPriorityFeePerGas: 1_500_000_000n },
}

/** Quotes a text that the program wrote. */
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** SQL of what transaction `n` has, from 1. The numbers of `md5` are random enough, and the same in each run. */
const SQL = {
  createdAt: (rows: number, end: Date) =>
    `('${end.toISOString()}'::timestamptz - interval '${NEWEST_DAYS} days' - interval '${HISTORY_DAYS} days' * ((${rows} - n)::float8 / ${rows}))::timestamptz(3)`,
  relayerIndex: `(case when n % 2 = 0 then 0 else 1 + (n / 2) % ${LARGE_RELAYERS.length - 1} end)`,
  nonce: `(case when n % 2 = 0 then n / 2 - 1 else (n / 2) / ${LARGE_RELAYERS.length - 1} end)`,
  status: `(case n % 50 when 7 then 'failed' when 21 then 'canceled' when 33 then 'expired' when 40 then 'failed' else 'confirmed' end)`,
  hash: (n = 'n') => `('0x' || md5('hash ' || ${n}) || md5('more ' || ${n}))`,
  receiver: `(md5('receiver ' || n % 100000) || '00000000')`,
  content: (value: unknown) =>
    `replace(${quoted(JSON.stringify(value))}, 'MARK', ${`md5('receiver ' || n % 100000) || '00000000'`})::jsonb`,
}

/** The id of a transaction of this time: a UUID of version 7, as the service makes them. */
const idAt = (createdAt: string) => `(
  lpad(to_hex((extract(epoch from ${createdAt}) * 1000)::bigint), 12, '0') || '7' || substr(md5('id ' || n), 1, 3)
  || '8' || substr(md5('id ' || n), 4, 3) || substr(md5('id ' || n), 7, 12))::uuid::text`

interface Fill {
  readonly databaseUrl: string
  readonly rows: number
}

/** Fills the tables of a migrated database whose relayers exist. Returns the time that it took, in s. */
export async function fillHistory({ databaseUrl, rows }: Fill): Promise<number> {
  const start = performance.now()
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(databaseUrl)))
  const [first] = clients
  try {
    if (first === undefined) throw new Error('There is no connection.')
    const { rows: indexes } = await first.query<{ name: string; definition: string }>(
      `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
       from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = any($1::text[]::regclass[]) and not exists (select from pg_constraint where conindid = i.indexrelid)`,
      [FILLED],
    )
    for (const { name } of indexes) await first.query(`drop index ${name}`)
    // What the start of the service has told.
    await first.query('truncate events, deliveries')
    await fillTables(clients, rows)
    await inParallel(
      clients,
      indexes.map(({ definition }) => definition),
    )
    for (const statement of countersOf(rows)) await first.query(statement)
    await inParallel(clients, [
      ...FILLED.map((table) => `vacuum (analyze) ${table}`),
      'analyze relayers',
      'analyze accounts',
    ])
    return (performance.now() - start) / 1000
  } finally {
    for (const client of clients) await client.end()
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  // Neither triggers nor foreign keys: the rows are consistent by themselves.
  await client.query(`set session_replication_role = replica; set synchronous_commit = off; set jit = off`)
  return client
}

async function inParallel(clients: readonly pg.Client[], statements: readonly string[]): Promise<void> {
  const queue = [...statements]
  await Promise.all(
    clients.map(async (client) => {
      for (let statement = queue.shift(); statement !== undefined; statement = queue.shift())
        await client.query(statement)
    }),
  )
}

/** A statement inserts this many transactions, in the order of their time, so that rows of one time stay together on the disk. */
const SLICE = 100_000

async function fillTables(clients: readonly pg.Client[], rows: number): Promise<void> {
  const slices = Array.from({ length: Math.ceil(rows / SLICE) }, (_, index) => ({
    from: index * SLICE + 1,
    to: Math.min(rows, (index + 1) * SLICE),
  }))
  // Tables one after the other: two connections then append to the same one, nearly in order.
  // One time for all statements, because the ids contain it.
  const end = new Date()
  for (const insert of insertsOf(rows, end))
    await inParallel(
      clients,
      slices.flatMap(({ from, to }) =>
        insert(`generate_series(${from}::bigint, ${to}::bigint) as n`, { from, to }),
      ),
    )
}

interface Slice {
  readonly from: number
  readonly to: number
}

function insertsOf(rows: number, end: Date): readonly ((series: string, slice: Slice) => string[])[] {
  const createdAt = SQL.createdAt(rows, end)
  // The columns that several tables share.
  const source = (series: string) => `(
    select n, ${createdAt} as created_at, ${SQL.relayerIndex} as index, ${SQL.nonce} as nonce, ${SQL.status} as status
    from ${series}) s join lateral (
    select id as relayer_id, address, network, notification_id from relayers where id = 'relayer-' || s.index) r on true`
  const id = idAt('created_at')
  const firstEvent = Math.floor(rows * (1 - EVENT_DAYS / HISTORY_DAYS))
  const steps = ['pending', 'sent', 'submitted', 'mined', 'confirmed']
  return [
    (series) => [
      `insert into transactions (position, created_at, id, relayer_id, network, from_address, requested_by, request, purpose, source_account,
        nonce, current_attempt, sent_at, next_run_at, cost, block_number, block_hash, block_time, confirmed_at, version, status, status_reason)
      overriding system value
      select n, created_at, ${id}, relayer_id, network, address, 'root', ${SQL.content(encodeRequest(REQUEST))},
        case status when 'canceled' then 'cancel' when 'expired' then 'expire' else 'request' end, address,
        nonce, 1, created_at + interval '1 second', created_at, 0,
        case when status in ('confirmed', 'failed') then n / 10 end,
        case when status in ('confirmed', 'failed') then '0x' || md5('block ' || n / 10) || md5('hash ' || n / 10) end,
        case when status in ('confirmed', 'failed') then created_at + interval '4 seconds' end,
        case when status = 'confirmed' then created_at + interval '24 seconds' end, 5, status,
        case status when 'failed' then 'The chain executed it, and it reverted: insufficient balance.' end
      from ${source(series)}`,
    ],
    (series) => [
      `insert into attempts (transaction_id, number, kind, source_account, nonce, hash, raw, draft, signature, signed_at, outcome, broadcast_at,
        result)
      select ${id}, 1, 'send', address, nonce, ${SQL.hash()},
        decode('02f8b0' || md5('raw ' || n) || md5('a' || n) || md5('b' || n) || md5('c' || n) || md5('d' || n) || md5('e' || n) || md5('f' || n)
          || md5('g' || n) || md5('h' || n) || md5('i' || n) || md5('j' || n), 'hex'),
        ${SQL.content(encodeDraft(DRAFT))},
        jsonb_build_object('r', md5('r' || n) || md5('r2' || n), 's', md5('s' || n) || md5('s2' || n), 'v', 1),
        created_at + interval '500 ms',
        case status when 'confirmed' then 'mined' when 'failed' then 'reverted' else 'superseded' end, created_at + interval '1 second',
        case when status in ('confirmed', 'failed') then
          jsonb_build_object('feeCharged', '1080000000000000', 'gasUsed', '54000', 'gasPrice', '20000000000') end
      from ${source(series)}`,
    ],
    (series) => [
      `insert into idempotency_keys (relayer_id, key, fingerprint, transaction_id, created_at)
      select relayer_id, 'order-' || n, md5('f' || n) || md5('g' || n), ${id}, created_at from ${source(series)} where n % 2 = 0`,
    ],
    (series) => [
      `insert into approvals (transaction_id, relayer_id, requested_by, reasons, created_at, expires_at, decision, decided_by, decided_at)
      select ${id}, relayer_id, 'root', '[]', created_at, created_at + interval '1 day', 'approved', 'boss', created_at
      from ${source(series)} where n % 100 = 0`,
    ],
    (series) => [
      `insert into audit_log (chain, number, at, actor, address, request_id, action, target_type, target_id, after, hash)
      select 'relayer:' || relayer_id, nonce + 1, created_at, 'root', '203.0.113.7', md5('request ' || n)::uuid::text, 'sendTransaction',
        'transaction', ${id}, jsonb_build_object('request_sha256', md5('q' || n) || md5('w' || n)), decode(md5('l' || n) || md5('m' || n), 'hex')
      from ${source(series)}`,
    ],
    (series, { to }) =>
      to <= firstEvent
        ? []
        : [
            `insert into events (number, uid, created_at, relayer_id, transaction_id, notification_id, type, payload)
      select (n - ${firstEvent}) * ${steps.length} + step.number - ${steps.length}, md5('uid ' || n || ' ' || step.number)::uuid,
        created_at + step.number * interval '1 second', relayer_id, ${id}, notification_id, 'transaction_update',
        jsonb_build_object('status', step.status, 'nonce', nonce, 'current_attempt', 1, 'sent_at', created_at + interval '1 second')
      from ${source(series)} cross join unnest(array[${steps.map(quoted)}]) with ordinality as step (status, number)
      where n > ${firstEvent}`,
            `insert into deliveries (notification_id, event_number, ordering_key, status, tries, tried_at, settled_at)
      select notification_id, (n - ${firstEvent}) * ${steps.length} + step - ${steps.length}, ${id},
        case when n % 1000 = 0 and step = 5 then 'dead' else 'delivered' end, 1, created_at, created_at
      from ${source(series)} cross join generate_series(1, ${steps.length}) as step
      where n > ${firstEvent} and notification_id is not null`,
          ],
  ]
}

function countersOf(rows: number): string[] {
  return [
    `insert into finished_counts (relayer_id, status, count)
      select relayer_id, status, count(*) from transactions group by 1, 2`,
    `select setval(pg_get_serial_sequence('transactions', 'position'), ${rows})`,
    `select setval('event_numbers', (select coalesce(max(number), 0) from events))`,
    `update delivery_cursors set event_number = (select coalesce(max(number), 0) from events)`,
    'truncate delivery_counts',
    `insert into delivery_counts (notification_id, status, count)
      select notification_id, status, count(*) from deliveries group by 1, 2`,
    `insert into audit_chains (chain, number, hash)
      select distinct on (chain) chain, number, hash from audit_log order by chain, number desc
      on conflict (chain) do update set number = excluded.number, hash = excluded.hash`,
    `insert into accounts (relayer_id, address, next_nonce, known_nonce)
      select relayer_id, from_address, max(nonce) + 1, 0 from transactions group by 1, 2
      on conflict (relayer_id, address) do update set next_nonce = excluded.next_nonce`,
  ]
}
