import { join } from 'node:path'
import type { Anvil } from '../../../test/support/anvil.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { callService, type Transaction } from '../../../test/support/service.ts'
import { atLeast, type Measurement, type Row, single, withoutPostgres } from '../measurement.ts'
import {
  ACCOUNTS,
  configOfAccounts,
  giveMoney,
  RELAYERS,
  relayersOf,
  sendTo,
  settled,
} from '../support/accounts.ts'
import { type CpuGroup, createCpuGroup, whyNoCpuGroup } from '../support/cpu-group.ts'
import { BODY, becomes, transactionsOf, WITHOUT_LIMITS, withAnvil, withFolder } from '../support/stage.ts'

/** Sent before the clock runs. */
const WARM_UP = 400

/** Sent to the process that is killed, so that it works on every account. */
const HELD = 200

const AT_NODE: readonly string[] = ['submitted', 'mined', 'confirmed']

/** What each process gets, so that two cores are enough for four of them beside the database, the node and the load. */
const SHARE = 0.25

/** The accounts that the processes share. */
const SHARED = 64
const SHARED_RELAYERS = relayersOf(SHARED)

/** Sent in each measurement. A process with a quarter of a core needs half a minute for them. */
const SENT = 1_500

const rowOf = (count: string) =>
  `${count} processes with a quarter of a core each, ${SHARED} accounts, until all are final; bare: one process`
const TWO = rowOf('two')
const FOUR = rowOf('four')
const SURVIVOR = `kill -9 of one of two processes: until the other one has sent for all ${ACCOUNTS} accounts`

/** Processes that share a PostgreSQL: how much they send beside one, and the time until one works for another. */
export async function benchProcesses(): Promise<Row[]> {
  if (!hasPostgres()) return withoutPostgres(TWO, FOUR, SURVIVOR)
  const postgres = await startPostgres()
  try {
    const survivor = await withProcesses(postgres, { count: 2, relayers: RELAYERS }, measureSurvivor)
    return [...(await addUp(postgres)), single(SURVIVOR, survivor, { unit: 'ms', limit: 3_000 })]
  } finally {
    await postgres.stop()
  }
}

/** One, two and four processes, each of which has as much CPU time as the others, however many there are. */
async function addUp(postgres: PostgresServer): Promise<Row[]> {
  const reason = whyNoCpuGroup()
  if (reason !== undefined) return [TWO, FOUR].map((what) => ({ what, reason }))
  const measure = (count: number) =>
    withProcesses(postgres, { count, relayers: SHARED_RELAYERS, share: SHARE }, measureSent)
  const before = await measure(1)
  const two = await measure(2)
  const four = await measure(4)
  const bare = (before + (await measure(1))) / 2
  return [beside(TWO, { ours: two, bare, limit: 1.8 }), beside(FOUR, { ours: four, bare, limit: 3.2 })]
}

interface Compared {
  readonly ours: number
  readonly bare: number
  readonly limit: number
}

function beside(what: string, { ours, bare, limit }: Compared): Measurement {
  return {
    what,
    ours: `${ours.toFixed(1)} /s`,
    bare: `${bare.toFixed(1)} /s`,
    value: ours / bare,
    goal: atLeast(limit),
  }
}

interface Stage {
  readonly count: number
  readonly relayers: readonly string[]
  /** The part of a core that each process gets once it is ready. Default: no limit. */
  readonly share?: number
}

/** This many processes on a database and a chain of their own, with money on every account. */
async function withProcesses<T>(
  postgres: PostgresServer,
  { count, relayers, share }: Stage,
  measure: (services: readonly ServiceProcess[]) => Promise<T>,
): Promise<T> {
  const databaseUrl = await postgres.createDatabase()
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const services: ServiceProcess[] = []
      const groups: CpuGroup[] = []
      try {
        for (let index = 0; index < count; index += 1)
          services.push(await startOn(anvil, { folder: join(folder, `${index}`), databaseUrl, relayers }))
        await giveMoney(anvil, services, relayers)
        if (share !== undefined) for (const { child } of services) groups.push(hold(child.pid ?? 0, share))
        await sendTo(services, WARM_UP, relayers)
        await settled(services, relayers)
        return await measure(services)
      } finally {
        for (const service of services) await service.kill()
        for (const group of groups) group.remove()
      }
    }),
  )
}

function hold(pid: number, share: number): CpuGroup {
  const group = createCpuGroup(share)
  group.add(pid)
  return group
}

interface Place {
  readonly folder: string
  readonly databaseUrl: string
  readonly relayers: readonly string[]
}

function startOn(anvil: Anvil, { folder, databaseUrl, relayers }: Place) {
  return startProcess({
    rpcUrl: anvil.url,
    folder,
    config: configOfAccounts(anvil, relayers.length),
    env: { ...WITHOUT_LIMITS, DATABASE_URL: databaseUrl },
  })
}

/** Transactions for each second, from the first request until the last one is final. */
async function measureSent(services: readonly ServiceProcess[]): Promise<number> {
  const start = performance.now()
  await sendTo(services, SENT, SHARED_RELAYERS)
  await settled(services, SHARED_RELAYERS)
  return (SENT / (performance.now() - start)) * 1000
}

/** Time in ms from the kill of the first process until the second one has sent a request for every account. */
async function measureSurvivor(services: readonly ServiceProcess[]): Promise<number> {
  const [killed, survivor] = services
  if (killed === undefined || survivor === undefined) throw new Error('There are not two processes.')
  await sendTo([killed], HELD)
  const start = performance.now()
  await killed.kill()
  await Promise.all(RELAYERS.map((relayer) => sendUntilAtNode(survivor, relayer)))
  return performance.now() - start
}

async function sendUntilAtNode({ url }: ServiceProcess, relayer: string): Promise<void> {
  const path = transactionsOf(relayer)
  const { body } = await callService<Transaction>(url, { method: 'POST', path, body: BODY })
  await becomes(async () => {
    const seen = await callService<Transaction>(url, { method: 'GET', path: `${path}/${body.data.id}` })
    return AT_NODE.includes(seen.body.data.status)
  }, 50)
}
