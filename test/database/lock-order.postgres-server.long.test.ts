import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { createPostgres, type LatePostgres } from '../support/postgres.ts'
import { plainSigner, RECEIVER, type Service, startService } from '../support/service.ts'

/** The phrase of anvil's own accounts, which have money on its chain and nowhere else. */
const PHRASE = 'test test test test test test test test test test test junk'
const SEED = { id: 'seed', type: 'mnemonic', config: { mnemonic: { type: 'plain', value: PHRASE } } }
const TOP_UP = { from: 'pool', below: '1', to: '2', max_per_day: '10' }

/** The number of accounts of the relayer `pool`. */
const ACCOUNTS = 5

/** How often each operation of a pair runs, half of them in each process. */
const TIMES = 4

const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')
const ABI = [{ type: 'function', name: 'poke', inputs: [], outputs: [], stateMutability: 'nonpayable' }]

const RELAYER = { network: 'anvil', network_type: 'evm', signer_id: 'seed', policies: {} }
const POOL = {
  ...RELAYER,
  id: 'pool',
  notification_id: 'ops',
  accounts: [{ signer_id: 'seed', count: ACCOUNTS }],
}

let anvil: Anvil
let postgres: LatePostgres
let database: pg.Client
let services: readonly [Service, Service]
let databaseUrl: string

const startOne = (relayers: readonly object[]) =>
  startService({
    rpcUrls: [anvil.url],
    databaseUrl,
    signers: relayers.length > 1 ? [SEED, plainSigner('file', `0x${'17'.repeat(32)}`)] : [SEED],
    relayers,
    env: { STORAGE_ENCRYPTION_KEY: SEALING_KEY, RELAYER_HEALTH_INTERVAL_SECONDS: '5' },
  })

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '0.2', '--accounts', '20'] })
  postgres = await createPostgres()
  await postgres.start()
  databaseUrl = postgres.url
  database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  await database.query("alter system set deadlock_timeout = '100ms'")
  await database.query('select pg_reload_conf()')
  services = [await startOne([POOL]), await startOne([POOL])]
  await slowDown()
}, 120_000)
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await database.end()
  await postgres.stop()
  await anvil.stop()
})

/**
 * Every statement that writes rows which others lock takes longer, so that database transactions of a few
 * milliseconds overlap.
 */
async function slowDown(): Promise<void> {
  const tables = [
    'relayers',
    'accounts',
    'transactions',
    'notifications',
    'idempotency_keys',
    'signers',
    'api_keys',
    'spenders',
  ]
  await database.query(`create function slow_down() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.004); return null; end $$`)
  for (const table of tables)
    await database.query(
      `create trigger slow_down after insert or update or delete on ${table} for each statement execute function slow_down()`,
    )
}

interface Call {
  readonly service: Service
  /** Another number in each call. */
  readonly index: number
}

/** Does something that locks rows, and returns the statuses and codes of its answers. */
type Operation = (call: Call) => Promise<unknown>

const ALL = '/relayers/pool/transactions'
const payment = (index: number) => ({
  to: RECEIVER,
  value: 1,
  data: `0x${index.toString(16).padStart(8, '0')}`,
})

/**
 * A request that the service refuses for a reason of the caller's, such as a pause by another operation of
 * the pair.
 */
class RefusedError extends Error {}

async function call(
  { service }: Call,
  method: string,
  path: string,
  ...rest: [body?: object, headers?: Record<string, string>]
): Promise<string> {
  const { status, body } = await service.api<{ readonly id?: string } | null>(method, path, ...rest)
  const answer = `${method} ${path}: ${status} ${body?.code ?? ''}`
  if (status >= 500) throw new Error(answer)
  if (status >= 400) throw new RefusedError(answer)
  return body?.data?.id ?? ''
}

const sendTo = (one: Call) =>
  call(one, 'POST', ALL, payment(one.index), { 'idempotency-key': `key-${one.index}` })

/** Every kind of operation that locks rows which another one locks too. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'a send': sendTo,
  'a send in a lane': (one) =>
    call(one, 'POST', ALL, { ...payment(one.index), lane: `lane-${one.index % 3}` }),
  'a batch with keys that another batch has in the other order': (one) => {
    const pair = Math.floor(one.index / 2)
    const keys = [0, 1, 2, 3].map((number) => `batch-${pair}-${number}`)
    if (one.index % 2 === 1) keys.reverse()
    const transactions = keys.map((key, at) => ({ ...payment(at), idempotency_key: key }))
    return call(one, 'POST', `${ALL}/batch`, { transactions })
  },
  'a replacement': async (one) =>
    call(one, 'PUT', `${ALL}/${await sendTo(one)}`, { to: RECEIVER, value: 2, speed: 'fastest' }),
  'a cancellation': async (one) => call(one, 'DELETE', `${ALL}/${await sendTo(one)}`),
  'the cancellation of all that waits': (one) => call(one, 'DELETE', `${ALL}/pending`),
  'another name': (one) => call(one, 'PATCH', '/relayers/pool', { name: `Pool ${one.index}` }),
  'a pause': async (one) => {
    await call(one, 'PATCH', '/relayers/pool', { paused: true })
    await call(one, 'PATCH', '/relayers/pool', { paused: false })
  },
  'other accounts': (one) =>
    call(one, 'PATCH', '/relayers/pool', {
      accounts: [{ signer_id: 'seed', count: one.index % 2 === 0 ? ACCOUNTS : ACCOUNTS - 1 }],
    }),
  'another budget': (one) =>
    call(one, 'PATCH', '/relayers/pool', {
      policies: { rules: { limits: [{ per: 'day', count: 100_000 + one.index }] } },
    }),
  'another notification': (one) =>
    call(one, 'PATCH', '/relayers/pool', { notification_id: one.index % 2 === 0 ? 'ops' : null }),
  'accepted nonces': (one) => call(one, 'POST', '/relayers/pool/accept-nonces', { reason: 'a test' }),
  'a relayer that comes and goes': async (one) => {
    const policies = { top_up: TOP_UP }
    const relayer = {
      ...RELAYER,
      name: 'New',
      policies,
      signer_id: `signer-${one.index}`,
      id: `new-${one.index}`,
    }
    const key = { type: 'plain', config: { key: (one.index + 1_000).toString(16).padStart(64, '0') } }
    await call(one, 'POST', '/signers', { id: relayer.signer_id, ...key })
    await call(one, 'POST', '/relayers', relayer)
    await call(one, 'DELETE', `/relayers/${relayer.id}`)
    await call(one, 'DELETE', `/signers/${relayer.signer_id}`)
  },
  'an ABI': (one) => {
    const address = `0x${(one.index % 2).toString(16).padStart(40, '0')}`
    return call(one, 'PUT', `/relayers/pool/abis/${address}`, { abi: ABI })
  },
  'a change of the notification': (one) =>
    call(one, 'PATCH', '/notifications/ops', { url: `https://example.com/${one.index}` }),
  'a notification that comes and goes': async (one) => {
    const path = `/notifications/new-${one.index}`
    await call(one, 'POST', '/notifications', { id: `new-${one.index}`, url: 'https://example.com/new' })
    await call(one, 'POST', `${path}/test`, {})
    await call(one, 'DELETE', path)
  },
  'a test of the notification': (one) => call(one, 'POST', '/notifications/ops/test', {}),
  'a key that comes and goes': async (one) => {
    await call(one, 'POST', '/api-keys', { id: `key-${one.index}`, name: 'New', scopes: ['relayers:read'] })
    await call(one, 'POST', `/api-keys/key-${one.index}/rotate`, {})
    await call(one, 'DELETE', `/api-keys/key-${one.index}`)
  },
}

const PAIRS = Object.keys(OPERATIONS).flatMap((one, at) =>
  Object.keys(OPERATIONS)
    .slice(at)
    .map((other) => [one, other] as const),
)

let calls = 0

/** How often each operation did what it should. */
const done = new Map<string, number>()

/**
 * Runs operations at the same time in both processes, and returns what a caller would see as a fault of the
 * service.
 */
async function race(names: readonly string[], times = TIMES): Promise<string[]> {
  const before = postgres.deadlocks().length
  const tasks = Array.from({ length: times }, () => names).flatMap((those, turn) =>
    those.map(async (name) => {
      calls += 1
      await OPERATIONS[name]?.({ service: services[turn % 2] ?? services[0], index: calls })
      done.set(name, (done.get(name) ?? 0) + 1)
    }),
  )
  const results = await Promise.allSettled(tasks)
  const failed = results.flatMap((result) =>
    result.status === 'rejected' && !(result.reason instanceof RefusedError) ? [String(result.reason)] : [],
  )
  return [...failed, ...postgres.deadlocks().slice(before)].map((fault) => `${names.join(' and ')}: ${fault}`)
}

test(`none of ${PAIRS.length} pairs of operations deadlocks or fails, in two processes on one PostgreSQL`, async () => {
  const faults: string[] = []
  for (const pair of PAIRS) faults.push(...(await race(pair)))
  expect(faults).toEqual([])
  // An operation that is always refused would lock nothing.
  expect(Object.keys(OPERATIONS).filter((name) => (done.get(name) ?? 0) < PAIRS.length / 10)).toEqual([])
}, 400_000)

test('a process that starts with another configuration deadlocks with nothing', async () => {
  const stop = new AbortController()
  const load = (async () => {
    const faults: string[] = []
    while (!stop.signal.aborted) faults.push(...(await race(Object.keys(OPERATIONS), 1)))
    return faults
  })()
  for (const name of ['One', 'Two', 'Three']) {
    const started = await startOne([
      { ...POOL, name },
      { ...RELAYER, id: 'file', name, signer_id: 'file' },
    ])
    await started.stop()
  }
  stop.abort()
  expect(await load).toEqual([])
}, 120_000)

/** A migration of the next release, which changes tables in the order of its statements. */
async function changeTables(): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    for (const table of ['transactions', 'idempotency_keys', 'accounts', 'notifications', 'relayers'])
      await client.query(`alter table ${table} add column if not exists of_next_release integer`)
    for (const table of ['transactions', 'idempotency_keys', 'accounts', 'notifications', 'relayers'])
      await client.query(`alter table ${table} drop column of_next_release`)
    await client.query('commit')
  } finally {
    await client.end()
  }
}

/** At least so many migrations run beside requests. Most of them deadlock. */
const MIGRATIONS = 10

test('a migration of another release deadlocks with requests, and no request fails', async () => {
  const before = postgres.deadlocks().length
  const faults: string[] = []
  for (let times = 0; times < MIGRATIONS || postgres.deadlocks().length === before; times += 1) {
    // The migration itself may be what the server rolls back; a start repeats it.
    const migrated = changeTables().catch((error: { code?: string }) => expect(error.code).toBe('40P01'))
    const found = await race(Object.keys(OPERATIONS), 1)
    faults.push(...found.filter((fault) => !fault.includes('DETAIL:')))
    await migrated
  }
  expect(faults).toEqual([])
}, 400_000)

/** The callers that send while the relayer is changed, and its changes. */
const SENDERS = 10
const CHANGES = 40

const CHANGED: readonly Operation[] = [
  'another name',
  'other accounts',
  'a pause',
  'another budget',
  'a relayer that comes and goes',
].flatMap((name) => OPERATIONS[name] ?? [])

test(`a relayer is changed ${CHANGES} times while ${SENDERS} callers send: no answer is a fault`, async () => {
  const before = postgres.deadlocks().length
  const stop = new AbortController()
  const run = (operation: Operation, service: Service) => {
    calls += 1
    return operation({ service, index: calls }).catch((error: unknown) => {
      if (!(error instanceof RefusedError)) throw error
    })
  }
  const senders = Promise.all(
    Array.from({ length: SENDERS }, async (_, number) => {
      while (!stop.signal.aborted) await run(sendTo, services[number % 2] ?? services[0])
    }),
  )
  for (let change = 0; change < CHANGES; change += 1)
    await run(CHANGED[change % CHANGED.length] ?? sendTo, services[change % 2] ?? services[0])
  stop.abort()
  await senders
  expect(postgres.deadlocks().slice(before)).toEqual([])
}, 240_000)
