import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type PostgresServer, query, startPostgres } from '../support/postgres.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { createRandom } from '../support/random.ts'
import { type Schedule, schedulesOf } from '../support/schedules.ts'
import { callService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** `SCHEDULES_SEED` replays the histories of a seed. */
const SEED = Number(process.env.SCHEDULES_SEED ?? 4_711)
/** With two schedules each, they have as many as a relayer may have. */
const HISTORIES = 50
const PROCESSES = 2
/** Longer than the processes need for the missed times of a history. */
const LONGEST_KILL_MS = 700

let anvil: Anvil
let postgres: PostgresServer
let databaseUrl: string
let folder: string
const processes: ServiceProcess[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  postgres = await startPostgres()
  databaseUrl = await postgres.createDatabase()
  folder = await mkdtemp(join(tmpdir(), 'relayer-schedules-'))
  for (let index = 0; index < PROCESSES; index += 1) processes.push(await start(index))
}, 120_000)
afterAll(async () => {
  for (const one of processes) await one.kill()
  await postgres?.stop()
  await anvil?.stop()
  await rm(folder, { recursive: true, force: true })
})

function start(index: number): Promise<ServiceProcess> {
  return startProcess({
    rpcUrl: anvil.url,
    folder: join(folder, `process-${index}`),
    env: { DATABASE_URL: databaseUrl },
  })
}

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x6000_0000 + index).toString(16).padStart(40, '0')}`

interface Made {
  readonly id: string
  readonly paid: string
}

/** The rows that show whether a run was sent twice, or lost between its record and its transaction. */
async function brokenPromises(): Promise<object[]> {
  return query(
    databaseUrl,
    `select schedules.id, schedules.runs,
      (select count(*) from schedule_runs where schedule_id = schedules.id and outcome = 'sent') as sent,
      (select count(distinct transaction_id) from schedule_runs where schedule_id = schedules.id) as distinct_sent,
      (select count(*) from transactions where schedule_id = schedules.id) as stored,
      (select count(*) from transactions join schedule_runs on transaction_id = transactions.id
        where transactions.schedule_id = schedules.id and schedule_runs.schedule_id = schedules.id) as joined
    from schedules`,
  ).then((rows) =>
    (rows as Record<string, bigint | number | string>[]).filter(
      ({ runs, sent, distinct_sent, stored, joined }) =>
        new Set([runs, sent, distinct_sent, stored, joined].map(Number)).size !== 1,
    ),
  )
}

test('however often two processes are killed, each run of a schedule is sent once', async () => {
  const random = createRandom(SEED)
  const call = <Data>(method: string, path: string, body?: object) =>
    callService<Data>(processes[0]?.url ?? '', { method, path, body })
  const schedules = schedulesOf(call)
  const made: Made[] = []
  let kills = 0
  for (let history = 0; history < HISTORIES; history += 1) {
    const created: Schedule[] = []
    for (let count = 0; count < 2; count += 1) {
      const paid = receiver(made.length)
      const one = await schedules.mustCreate({
        transaction: { to: paid, value: '1', speed: 'fast' },
        missed: random.chance(0.7) ? 'all' : 'once',
        overlap: 'allow',
      })
      created.push(one)
      made.push({ id: one.id, paid })
    }
    const ids = created.map(({ id }) => `'${id}'`).join(', ')
    const minutes = random.int(1, 14)
    await query(
      databaseUrl,
      `update schedules set next_at = date_trunc('minute', now()) - interval '${minutes} minutes' where id in (${ids}) and last_at is null`,
    )
    await new Promise((resolve) => setTimeout(resolve, random.int(0, LONGEST_KILL_MS)))
    for (let index = 0; index < PROCESSES; index += 1)
      if (random.chance(0.4)) {
        kills += 1
        await processes[index]?.kill()
        processes[index] = await start(index)
      }
    const isOver = async () =>
      query<{ open: bigint }>(
        databaseUrl,
        `select count(*) as open from schedules where id in (${ids}) and next_at <= now()`,
      )
    await until(isOver, ([row]) => Number(row?.open) === 0)
    for (const { id } of created) await schedules.change(id, { paused: true })
    expect({ history, broken: await brokenPromises() }).toEqual({ history, broken: [] })
  }
  expect(kills).toBeGreaterThan(HISTORIES / 4)
  console.log(`seed ${SEED}: ${HISTORIES} histories, ${kills} kills, ${made.length} schedules`)
  for (const { id, paid } of made) {
    const { runs } = await schedules.get(id)
    expect(runs).toBeGreaterThan(0)
    await until(
      () => anvil.rpc<string>('eth_getBalance', [paid, 'latest']),
      (balance) => BigInt(balance) === BigInt(runs),
    )
  }
  // Whatever was signed is in a block, so nothing more can come.
  const open = await query<{ open: bigint }>(
    databaseUrl,
    "select count(*) as open from transactions where schedule_id is not null and status not in ('mined', 'confirmed')",
  )
  expect(Number(open[0]?.open)).toBe(0)
}, 900_000)
