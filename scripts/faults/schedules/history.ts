import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Schemas } from '../../../src/contract/operations.ts'
import type { Db } from '../../../src/database/db.ts'
import { createRandom } from '../../../test/support/random.ts'
import type { Answer } from '../../../test/support/service.ts'
import type { Troubles } from '../common-event.ts'
import type { TestBed } from '../test-bed.ts'
import { type Evidence, judge, type StoredRun, type StoredTransaction, type Told } from './judge.ts'
import { describeStep, drawSchedules, drawSteps, type PlannedSchedule, type Step } from './plan.ts'

type Schedule = Schemas['Schedule']

/** A history that was run. */
export interface ScheduleHistory {
  readonly seed: number
  readonly story: readonly string[]
  /** The times that were decided, by their outcome. */
  readonly outcomes: Readonly<Record<StoredRun['outcome'], number>>
  readonly violations: readonly string[]
}

interface Options {
  readonly seed: number
  readonly steps: number
  readonly troubles: Troubles
}

/** What the histories of a campaign share. */
export interface Stage {
  readonly testBed: TestBed
  /** The database of the service, past the service. */
  readonly db: Db
}

/** The relayer of all schedules. */
const PATH = '/relayers/main/schedules'

const MINUTE_MS = 60_000

/** Runs the history of this seed, ends it, and compares what is stored with the chain and with what was told. */
export async function runScheduleHistory(
  stage: Stage,
  { seed, steps, troubles }: Options,
): Promise<ScheduleHistory> {
  const { testBed } = stage
  const random = createRandom(seed)
  await testBed.prepare()
  const planned = drawSchedules(random.fork('schedules'))
  const plan = drawSteps(random.fork('steps'), steps, troubles)
  const told: Told[] = []
  for (const [index, one] of planned.entries()) told.push(await create(testBed, one, { seed, index }))
  for (const step of plan) await happen(testBed, told, step)
  const violations = await end(stage, told)
  const outcomes = { sent: 0, refused: 0, skipped: 0 }
  for (const one of told) {
    const evidence = await readEvidence(stage, one)
    for (const { outcome, times } of evidence.decided) outcomes[outcome] += times
    violations.push(...judge(one, evidence))
  }
  await removeAll(testBed, seed, told)
  return {
    seed,
    story: [...planned.map((one) => JSON.stringify(one)), ...plan.map(describeStep)],
    outcomes,
    violations,
  }
}

const keyOf = (seed: number) => `key-${seed}`

/** Creates a schedule while nothing is wrong, so that its answer is known. */
async function create(
  testBed: TestBed,
  planned: PlannedSchedule,
  { seed, index }: { readonly seed: number; readonly index: number },
): Promise<Told> {
  const { everyMinutes, missed, overlap, maxRuns, maxPerDay } = planned
  const receiver = `0x${(0x7000_0000_0000n + BigInt(seed) * 16n + BigInt(index)).toString(16).padStart(40, '0')}`
  const headers =
    maxPerDay === undefined
      ? undefined
      : { authorization: `Bearer ${await issueKey(testBed, seed, maxPerDay)}` }
  const body = {
    cron: cronOf(everyMinutes),
    transaction: { to: receiver, value: '1', speed: 'fast' },
    missed,
    overlap,
    ...(maxRuns !== undefined && { max_runs: maxRuns }),
  }
  const { data } = await insist(() => testBed.api<Schedule>('POST', PATH, body, headers))
  const { next_at: firstAt = '' } = data
  return {
    id: data.id,
    receiver,
    everyMinutes,
    overlap,
    maxRuns,
    maxPerDay,
    firstAt: new Date(firstAt),
    isTouched: false,
  }
}

function cronOf(everyMinutes: number): string {
  return everyMinutes === 1 ? '* * * * *' : `*/${everyMinutes} * * * *`
}

async function issueKey(testBed: TestBed, seed: number, count: number): Promise<string> {
  const { data } = await insist(() =>
    testBed.api<{ secret: string }>('POST', '/api-keys', {
      id: keyOf(seed),
      name: keyOf(seed),
      scopes: ['transactions:read', 'transactions:write'],
      rules: { limits: [{ per: 'day', value: '1000000', count }] },
    }),
  )
  return data.secret
}

async function happen(testBed: TestBed, told: readonly Told[], step: Step): Promise<void> {
  switch (step.is) {
    case 'pass':
      for (let minute = 0; minute < step.minutes; minute += 1) {
        testBed.advance(MINUTE_MS)
        await testBed.testChain.makeBlock()
        await pause(step.pauseMs)
      }
      return
    case 'jump':
      testBed.advance(step.minutes * MINUTE_MS)
      await testBed.testChain.makeBlock()
      return pause(step.pauseMs)
    case 'kill':
      return testBed.restart('kill')
    case 'restart':
      return testBed.restart('stop')
    case 'outage':
      return testBed.blackOut(step.minutes * MINUTE_MS)
    case 'fail_over':
      return testBed.failOver()
    case 'pause':
    case 'resume':
    case 'change': {
      const one = told[step.target % told.length]
      if (one === undefined) return
      one.isTouched = true
      await testBed.api('PATCH', `${PATH}/${one.id}`, CHANGES[step.is]).catch(() => undefined)
      return pause(step.pauseMs)
    }
  }
}

const CHANGES = {
  pause: { paused: true },
  resume: { paused: false },
  change: { cron: '*/3 * * * *' },
} as const

/** More than ten minutes of the service: until a run that cannot be decided is refused. */
const MAX_ROUNDS = 600

/** Decides all times that have come, pauses all schedules, and waits until their transactions are final. */
async function end(stage: Stage, told: readonly Told[]): Promise<string[]> {
  const { testBed } = stage
  const due = await rounds(testBed, async () => {
    const schedules = await Promise.all(told.map(({ id }) => read(testBed, id)))
    return schedules.filter(({ next_at: at }) => at !== undefined && Date.parse(at) <= testBed.now())
  })
  for (const { id } of told) await insist(() => testBed.api('PATCH', `${PATH}/${id}`, { paused: true }))
  const open = await rounds(testBed, () => openOf(stage, told))
  return [
    ...due.map(({ id, next_at }) => `schedule ${id}: the time ${next_at} has come, and is never decided`),
    ...open.map((id) => `transaction ${id} is never final`),
  ]
}

/** Makes blocks and lets time pass until nothing is left; returns what is left in the end. */
async function rounds<T>(testBed: TestBed, look: () => Promise<readonly T[]>): Promise<readonly T[]> {
  let left: readonly T[] = []
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    left = await look()
    if (left.length === 0) break
    await testBed.testChain.makeBlock()
    testBed.advance(testBed.testChain.blockMs)
    await pause(ROUND_MS)
  }
  return left
}

const ROUND_MS = 20

const read = async ({ api }: TestBed, id: string) =>
  (await insist(() => api<Schedule>('GET', `${PATH}/${id}`))).data

/** Repeats a call that may come while a process or the database is away. */
async function insist<Data>(call: () => Promise<Answer<Data>>): Promise<Answer<Data>['body']> {
  let said = ''
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await call().catch((error: unknown) => String(error))
    if (typeof answer !== 'string' && answer.body.success) return answer.body
    said = typeof answer === 'string' ? answer : `${answer.status} ${answer.body.code}: ${answer.body.error}`
    await pause(100)
  }
  throw new Error(`the service does not do it: ${said}`)
}

/** The transactions of these schedules that are not final. */
async function openOf({ db }: Pick<Stage, 'db'>, told: readonly Told[]): Promise<string[]> {
  const ids = told.map(({ id }) => id)
  const { rows } = await sql<{ id: string }>`
    select id from transactions where schedule_id = any(${ids}::text[])
      and status not in ('confirmed', 'failed', 'canceled', 'expired')`.execute(db)
  return rows.map(({ id }) => id)
}

async function readEvidence({ testBed, db }: Stage, { id, receiver }: Told): Promise<Evidence> {
  const schedule = await read(testBed, id)
  const { rows: decided } = await sql<StoredRun>`
    select scheduled_at, outcome, decided_at, transaction_id, times from schedule_runs
    where schedule_id = ${id} order by scheduled_at`.execute(db)
  const { rows: transactions } = await sql<StoredTransaction>`
    select id, status, created_at, confirmed_at from transactions where schedule_id = ${id}`.execute(db)
  const { rows: announced } = await sql<{ at: string; outcome: string }>`
    select payload->'run'->>'scheduled_at' as at, payload->'run'->>'outcome' as outcome from events
    where type = 'schedule_update' and payload->>'schedule_id' = ${id} and payload ? 'run'`.execute(db)
  const lastAt = schedule.last_at === undefined ? undefined : new Date(schedule.last_at)
  const { state, runs } = schedule
  return {
    state,
    runs,
    lastAt,
    decided,
    transactions,
    announced,
    balance: await balanceOf(testBed, receiver),
  }
}

async function balanceOf({ testChain }: TestBed, address: string): Promise<bigint> {
  const response = await fetch(testChain.nodes[0]?.url ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] }),
  })
  return BigInt(((await response.json()) as { result: string }).result)
}

/** A relayer has a limited number of schedules, and the next history makes its own. */
async function removeAll(testBed: TestBed, seed: number, told: readonly Told[]): Promise<void> {
  for (const { id } of told) await insist(() => testBed.api('DELETE', `${PATH}/${id}`))
  if (told.some(({ maxPerDay }) => maxPerDay !== undefined))
    await insist(() => testBed.api('DELETE', `/api-keys/${keyOf(seed)}`))
}
