import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Anvil } from '../../../test/support/anvil.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../../test/support/postgres.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { callService, type Transaction } from '../../../test/support/service.ts'
import { atLeast, type Measurement, type Row, single, withoutPostgres } from '../measurement.ts'
import { ACCOUNTS, configOfAccounts, giveMoney, RELAYERS, sendTo, settled } from '../support/accounts.ts'
import {
  BODY,
  becomes,
  cpuMs,
  transactionsOf,
  WITHOUT_LIMITS,
  withAnvil,
  withFolder,
} from '../support/stage.ts'

/** Sent before the clock runs. */
const WARM_UP = 400

/** Sent to the process that is killed, so that it works on every account. */
const HELD = 200

const AT_NODE: readonly string[] = ['submitted', 'mined', 'confirmed']

const PAIR = `two processes on one PostgreSQL, ${ACCOUNTS} accounts, accepted; bare: one process`
const PAIR_CPU = `two processes on one PostgreSQL, ${ACCOUNTS} accounts, accepted for each second of their CPU time; bare: one process`
const FOUR = `four processes on one PostgreSQL, ${ACCOUNTS} accounts, accepted; bare: one process`
const SURVIVOR = `kill -9 of one of two processes: until the other one has sent for all ${ACCOUNTS} accounts`

/** Cores that four processes need beside the database, the node and the load. */
const CORES_FOR_FOUR = 7

/** Processes that share a PostgreSQL: how many requests they accept beside one, and the time until one works for another. */
export async function benchProcesses({ transactions }: { transactions: number }): Promise<Row[]> {
  if (!hasPostgres()) return withoutPostgres(PAIR, PAIR_CPU, FOUR, SURVIVOR)
  const postgres = await startPostgres()
  const measure = (count: number) =>
    withProcesses(postgres, count, (services) => measureAccepted(services, transactions))
  try {
    const before = await measure(1)
    const pair = await measure(2)
    const after = await measure(1)
    const one = {
      perSecond: (before.perSecond + after.perSecond) / 2,
      perCpuSecond: (before.perCpuSecond + after.perCpuSecond) / 2,
    }
    return [
      beside(PAIR, { ours: pair.perSecond, bare: one.perSecond, limit: 1.7 }),
      beside(PAIR_CPU, { ours: 2 * pair.perCpuSecond, bare: one.perCpuSecond, limit: 1.7 }),
      availableParallelism() < CORES_FOR_FOUR
        ? { what: FOUR, reason: `needs ${CORES_FOR_FOUR} cores` }
        : beside(FOUR, { ours: (await measure(4)).perSecond, bare: one.perSecond, limit: 2.5 }),
      single(SURVIVOR, await withProcesses(postgres, 2, measureSurvivor), { unit: 'ms', limit: 3_000 }),
    ]
  } finally {
    await postgres.stop()
  }
}

interface Compared {
  readonly ours: number
  readonly bare: number
  readonly limit: number
}

function beside(what: string, { ours, bare, limit }: Compared): Measurement {
  return {
    what,
    ours: `${ours.toFixed(0)} /s`,
    bare: `${bare.toFixed(0)} /s`,
    value: ours / bare,
    goal: atLeast(limit),
  }
}

/** This many processes on a database and a chain of their own, with money on every account. */
async function withProcesses<T>(
  postgres: PostgresServer,
  count: number,
  measure: (services: readonly ServiceProcess[]) => Promise<T>,
): Promise<T> {
  const databaseUrl = await postgres.createDatabase()
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const services: ServiceProcess[] = []
      try {
        for (let index = 0; index < count; index += 1)
          services.push(await startOn(anvil, { folder: join(folder, `${index}`), databaseUrl }))
        await giveMoney(anvil, services)
        await sendTo(services, WARM_UP)
        await settled(services)
        return await measure(services)
      } finally {
        for (const service of services) await service.kill()
      }
    }),
  )
}

function startOn(anvil: Anvil, { folder, databaseUrl }: { folder: string; databaseUrl: string }) {
  return startProcess({
    rpcUrl: anvil.url,
    folder,
    config: configOfAccounts(anvil),
    env: { ...WITHOUT_LIMITS, DATABASE_URL: databaseUrl },
  })
}

/** Accepted requests, for each second of the clock and of the CPU time of the processes. */
async function measureAccepted(services: readonly ServiceProcess[], count: number) {
  const cpuBefore = await totalCpuMs(services)
  const start = performance.now()
  await sendTo(services, count)
  const perSecond = (count / (performance.now() - start)) * 1000
  await settled(services)
  return { perSecond, perCpuSecond: (count / ((await totalCpuMs(services)) - cpuBefore)) * 1000 }
}

async function totalCpuMs(services: readonly ServiceProcess[]): Promise<number> {
  const all = await Promise.all(services.map(cpuMs))
  return all.reduce((sum, one) => sum + one, 0)
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
