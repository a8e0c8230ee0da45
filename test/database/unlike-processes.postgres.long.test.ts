import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, anvilNetwork, startAnvil } from '../support/anvil.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { callService, RECEIVER, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

const PHRASE = 'test test test test test test test test test test test junk'
const ACCOUNTS = 12
const ADDED = 'added'

let anvil: Anvil
let postgres: PostgresServer
let database: pg.Client
let databaseUrl: string
let folder: string
const processes: ServiceProcess[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--accounts', `${ACCOUNTS}`, '--block-time', '0.2'] })
  postgres = await startPostgres()
  databaseUrl = await postgres.createDatabase()
  database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  folder = await mkdtemp(join(tmpdir(), 'relayer-unlike-'))
}, 60_000)
afterAll(async () => {
  for (const process of processes) await process.kill()
  await database.end()
  await postgres.stop()
  await anvil.stop()
  await rm(folder, { recursive: true })
})

async function start(networks: readonly object[]): Promise<ServiceProcess> {
  const process = await startProcess({
    rpcUrl: anvil.url,
    folder: join(folder, `${processes.length}`),
    config: {
      networks,
      signers: [{ id: 'seed', type: 'mnemonic', config: { mnemonic: { type: 'plain', value: PHRASE } } }],
      relayers: [],
    },
    env: { DATABASE_URL: databaseUrl },
  })
  processes.push(process)
  return process
}

const liveProcesses = async () =>
  (await database.query('select id, cannot_act from processes where alive_until > now() order by started_at'))
    .rows as { id: string; cannot_act: string[] }[]

test('during an upgrade that adds a network, the processes that have it work for all of its accounts', async () => {
  const local = anvilNetwork([anvil.url])
  await start([local])
  const upgraded = await start([local, anvilNetwork([anvil.url], { network: ADDED })])
  const relayer = {
    name: ADDED,
    network: ADDED,
    network_type: 'evm',
    paused: false,
    signer_id: 'seed',
    accounts: [{ signer_id: 'seed', count: ACCOUNTS }],
  }
  const created = await callService<{ id: string }>(upgraded.url, {
    method: 'POST',
    path: '/relayers',
    body: relayer,
  })
  expect(created).toMatchObject({ status: 201 })
  const path = `/relayers/${created.body.data.id}/transactions`
  const isDone = ({ status }: { status: string }) => status === 'confirmed'
  const sent = await Promise.all(
    Array.from({ length: 3 * ACCOUNTS }, () =>
      callService<Transaction>(upgraded.url, {
        method: 'POST',
        path,
        body: { to: RECEIVER, value: 1, gas_limit: 21_000 },
      }),
    ),
  )
  expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200))
  const all = await until(
    async () =>
      (await callService<Transaction[]>(upgraded.url, { method: 'GET', path: `${path}?per_page=100` })).body
        .data,
    (transactions) => transactions.every(isDone),
  )
  expect(new Set(all.map(({ from }) => from)).size).toBe(ACCOUNTS)

  const [old, current] = await liveProcesses()
  expect(old?.cannot_act).toHaveLength(ACCOUNTS)
  expect(current?.cannot_act).toEqual([])
  const { rows } = await database.query(
    `select distinct owner from leases where name like 'account:%' and expires_at = 'infinity'`,
  )
  expect(rows).toEqual([{ owner: current?.id }])
}, 60_000)
