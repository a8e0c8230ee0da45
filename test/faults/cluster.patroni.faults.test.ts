import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { type Member, type PatroniCluster, startPatroni } from '../support/patroni.ts'
import type { ServiceProcess } from '../support/process.ts'
import { callService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { expectAllPaidOnce, type Load, startChain, startLoad, startServer } from './failover-load.ts'

/** As many requests are accepted before something fails, and again after the cluster has a primary again. */
const ACCEPTED = 20

/**
 * Time in ms between two requests of a caller: the cluster takes minutes, and everything that is accepted is
 * counted at the end.
 */
const PACE_MS = 250

/** From the promotion to the first accepted request, in ms: two looks of 2 s, and the time for one. */
const GOAL_MS = 10_000

/** Lines of the services' logs that a failure tells. */
const LINES_TOLD = 200

/** How long etcd is away, in s: longer than a primary keeps its lock. */
const WITHOUT_ETCD_SECONDS = 22

const accept = (load: Load) => {
  const before = load.accepted.size
  return until(
    async () => load.accepted.size,
    (count) => count >= before + ACCEPTED,
    { timeoutMs: 90_000 },
  )
}

interface Stage {
  readonly cluster: PatroniCluster
  readonly servers: readonly ServiceProcess[]
  readonly load: Load
}

/** The primary fails, and another member is promoted. Returns that one. */
async function failOver(
  { cluster, servers, load }: Stage,
  how: string,
  fail: (primary: Member) => Promise<void>,
): Promise<{ readonly old: Member; readonly promoted: Member }> {
  const old = await cluster.settled()
  const failedAt = performance.now()
  await fail(old)
  const promoted = await cluster.promoted(old)
  const promotedAt = performance.now()
  await accept(load)
  const first = Math.min(...[...load.accepted.values()].filter((at) => at > promotedAt)) - promotedAt
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  process.stdout.write(
    `the primary ${how}: promotion after ${seconds(promotedAt - failedAt)}, first accepted request ${seconds(first)} later\n`,
  )
  expect(first).toBeLessThanOrEqual(GOAL_MS)
  for (const { url } of servers) {
    const ready = await callService<unknown>(url, { method: 'GET', path: '/ready' })
    expect(ready.status).toBe(200)
  }
  return { old, promoted }
}

test('two processes on a Patroni cluster lose and double nothing, and accept requests within seconds of each promotion', async () => {
  const cluster = await startPatroni(2)
  onTestFinished(() => cluster.stop())
  const anvil = await startChain()
  const lines: string[] = []
  onTestFailed(() => {
    process.stdout.write(`${lines.slice(-LINES_TOLD).join('\n')}\n`)
  })
  const start = () => startServer(anvil, { DATABASE_URL: cluster.databaseUrl }, (line) => lines.push(line))
  const servers = [await start(), await start()]
  const load = startLoad(
    servers.map(({ url }) => url),
    { paceMs: PACE_MS },
  )
  const stage = { cluster, servers, load }
  await accept(load)

  const killed = await failOver(stage, 'is killed with its Patroni', (primary) => primary.killAll())
  killed.old.start()

  const frozen = await failOver(stage, 'freezes with its Patroni', (primary) => primary.freeze())
  await frozen.old.thaw()

  await failOver(stage, 'hands over', async (primary) => {
    const standby = cluster.members.find((member) => member !== primary) ?? primary
    await cluster.switchover(primary, standby)
  })

  // Two of three members of etcd go on without their leader, and the primary keeps its lock.
  const primary = await cluster.settled()
  const refused = load.refused()
  await cluster.etcd.killLeader()
  await accept(load)
  expect(load.refused()).toBe(refused)
  expect(await cluster.settled()).toBe(primary)

  // With failsafe_mode the primary goes on while its standby can be reached.
  cluster.etcd.freeze()
  await pause(WITHOUT_ETCD_SECONDS * 1_000)
  cluster.etcd.thaw()
  await accept(load)
  expect(load.refused()).toBe(refused)
  expect(await cluster.settled()).toBe(primary)

  const alone = await failOver(stage, 'lives on without its Patroni', (one) => one.killPatroni())
  expect(await alone.old.query('show transaction_read_only')).toEqual([{ transaction_read_only: 'off' }])
  await load.stop()
  // The old primary still takes writes, and is the first one that one of the processes is told of.
  for (const server of servers) await server.kill()
  const again = [await start(), await start()] as const
  const more = startLoad(
    again.map(({ url }) => url),
    { paceMs: PACE_MS, first: 1_000_000 },
  )
  await accept(more)
  alone.old.start()
  await cluster.settled(alone.promoted)
  await more.stop()

  await expectAllPaidOnce(anvil, again[0], {
    ...more,
    accepted: new Map([...load.accepted, ...more.accepted]),
    ids: new Map([...load.ids, ...more.ids]),
  })
  // Loops and requests fail by the dozen meanwhile, and the log does not repeat it.
  expect(lines.filter((line) => line.includes('round failed'))).toEqual([])
  expect(lines.filter((line) => line.includes('"database is back"')).length).toBeGreaterThan(0)
}, 420_000)

test('nothing is lost when the Patroni of an old primary starts again, which then answers the commits that waited', async () => {
  const cluster = await startPatroni(2)
  onTestFinished(() => cluster.stop())
  const anvil = await startChain()
  const start = () => startServer(anvil, { DATABASE_URL: cluster.databaseUrl })
  const servers = [await start(), await start()] as const
  const load = startLoad(servers.map(({ url }) => url))
  await accept(load)
  const old = await cluster.settled()
  await old.killPatroni()
  const promoted = await cluster.promoted(old)
  old.start()
  await accept(load)
  await load.stop()
  await cluster.settled(promoted)
  await expectAllPaidOnce(anvil, servers[0], load)
}, 180_000)
