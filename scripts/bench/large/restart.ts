import { join } from 'node:path'
import pg from 'pg'
import { encodeRequest } from '../../../src/transactions/store/codec.ts'
import type { Anvil } from '../../../test/support/anvil.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { callService, RECEIVER, type Transaction } from '../../../test/support/service.ts'
import { type Row, single, withoutPostgres } from '../measurement.ts'
import { configOfAccounts, giveMoney } from '../support/accounts.ts'
import { BODY, becomes, transactionsOf, WITHOUT_LIMITS, withAnvil, withFolder } from '../support/stage.ts'
import { LARGE_RELAYERS } from './fill.ts'

/** The most that each may take, in ms. */
const LIMIT_MS = 10_000

interface Restart {
  /** Transactions that wait, spread over the relayers. */
  readonly open: number
  /** A migrated database with the relayers, such as a large history. Default: an empty one. */
  readonly databaseUrl: string | undefined
}

/** A service starts on a database in which many transactions wait. */
export async function benchOpen({ open, databaseUrl }: Restart): Promise<Row[]> {
  const what = `start with ${open} open transactions, PostgreSQL`
  if (databaseUrl === undefined && !hasPostgres()) return withoutPostgres(what)
  const server = databaseUrl === undefined ? await startPostgres() : undefined
  try {
    const url = databaseUrl ?? (await server?.createDatabase()) ?? ''
    return await withFolder((folder) =>
      withAnvil(async (anvil) => {
        const start = (name: string) => startOn(anvil, join(folder, name), url)
        await prepare(anvil, url, start)
        await addOpen(url, open)
        const { ready, accepted, working } = await measureStart(url, () => start('again'))
        const limit = LIMIT_MS
        return [
          single(`${what}: until ready`, ready, { unit: 'ms', limit }),
          single(`${what}: until a request is accepted`, accepted, { unit: 'ms', limit }),
          single(`${what}: until a node has one of every relayer`, working, { unit: 'ms', limit }),
        ]
      }),
    )
  } finally {
    await server?.stop()
  }
}

function startOn(anvil: Anvil, folder: string, databaseUrl: string): Promise<ServiceProcess> {
  const env = { ...WITHOUT_LIMITS, RELAYER_MAX_IN_FLIGHT: '16', DATABASE_URL: databaseUrl }
  return startProcess({
    rpcUrl: anvil.url,
    folder,
    config: configOfAccounts(anvil, LARGE_RELAYERS.length),
    env,
  })
}

/** Makes the tables and the relayers, with money, and a chain that has used the nonces of the history. */
async function prepare(
  anvil: Anvil,
  databaseUrl: string,
  start: (name: string) => Promise<ServiceProcess>,
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const { rows } = await client
      .query<{ address: string; next_nonce: string }>(
        'select address, next_nonce from accounts where next_nonce is not null',
      )
      .catch(() => ({ rows: [] }))
    for (const { address, next_nonce } of rows)
      await anvil.rpc('anvil_setNonce', [address, `0x${BigInt(next_nonce).toString(16)}`])
    // The history was of another chain, and its relayers were paused.
    if (rows.length > 0) {
      await client.query('delete from chain_identities')
      await client.query(
        'update relayers set paused = false, system_disabled = false, disabled_reason = null',
      )
    }
  })
  const service = await start('first')
  await giveMoney(anvil, [service], LARGE_RELAYERS)
  await service.terminate()
}

async function addOpen(databaseUrl: string, open: number): Promise<void> {
  const request = JSON.stringify(encodeRequest({ type: 'evm', to: RECEIVER, value: 1n, gasLimit: 21_000n }))
  await withClient(databaseUrl, (client) =>
    client.query(
      `insert into transactions (id, relayer_id, network, from_address, status, purpose, request, requested_by, cost)
       select gen_random_uuid()::text, r.id, r.network, r.address, 'pending', 'request', $1::jsonb, 'root', 1
       from generate_series(1, $2::integer) as n join relayers r on r.id = 'relayer-' || n % $3::integer`,
      [request, open, LARGE_RELAYERS.length],
    ),
  )
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Times in ms from the start of the process. */
async function measureStart(databaseUrl: string, start: () => Promise<ServiceProcess>) {
  const begin = performance.now()
  const service = await start()
  try {
    const ready = performance.now() - begin
    const [relayer = ''] = LARGE_RELAYERS
    const path = transactionsOf(relayer)
    const { status } = await callService<Transaction>(service.url, { method: 'POST', path, body: BODY })
    if (status !== 200) throw new Error(`the service answered ${status}`)
    const accepted = performance.now() - begin
    const busy = () =>
      withClient(databaseUrl, async (client) => {
        const { rows } = await client.query<{ count: string }>(
          "select count(distinct relayer_id) from transactions where phase = 'signed' or (phase = 'confirmed' and confirmed_at > now() - interval '5 minutes')",
        )
        return Number(rows[0]?.count) === LARGE_RELAYERS.length
      })
    await becomes(busy, 50)
    return { ready, accepted, working: performance.now() - begin }
  } finally {
    await service.kill()
  }
}
