import { API_KEY } from '../../test/support/service.ts'
import { type History, runHistory } from './history.ts'
import type { StorageKind } from './storage.ts'
import { startTestBed, type TestBed, type TestBedOptions } from './test-bed.ts'

/** Which status may follow which, told again here so that a mistake in the table of moves is seen. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  nothing: ['pending'],
  pending: ['pending', 'sent', 'canceled', 'expired', 'failed'],
  // Without ever being mined it ends where a third party used the nonce and nothing more was to be done.
  sent: ['sent', 'submitted', 'pending', 'mined', 'canceled', 'expired', 'failed'],
  submitted: ['submitted', 'sent', 'pending', 'mined', 'canceled', 'expired', 'failed'],
  mined: ['mined', 'submitted', 'confirmed', 'canceled', 'expired', 'failed'],
}

/** What a record can be when the chain takes back the block that decided about it, and when another block has decided again. */
const ENDS: readonly string[] = ['confirmed', 'canceled', 'expired', 'failed']

interface Told {
  readonly id: string
  readonly status: string
  /** It tells that the chain took back a final block, or what came of that. */
  readonly isReorganisation: boolean
}

/** Reads the events out of the database that a stopped service left, and tells what is wrong with them (I8). */
async function checkEvents({
  storage,
  testChain: { trueAgainMs },
}: Pick<TestBed, 'storage' | 'testChain'>): Promise<string[]> {
  const database = await storage.open()
  try {
    const { db } = database
    const events = await db
      .selectFrom('events')
      .select(['transaction_id', 'type', 'payload'])
      .where('transaction_id', 'is not', null)
      .where('type', '<>', 'alert')
      .orderBy('number')
      .execute()
    const told = events.map(
      ({ transaction_id, type, payload }): Told => ({
        id: transaction_id ?? '',
        status: (payload as { status: string }).status,
        isReorganisation: trueAgainMs !== undefined && type === 'transaction_reorganized',
      }),
    )
    const records = await db.selectFrom('transactions').select(['id', 'status']).execute()
    return auditEvents(told, records)
  } finally {
    await database.close()
  }
}

/** Each transaction's statuses are a legal path, and the last one told is the one it has. Pure. */
function auditEvents(events: readonly Told[], records: readonly Pick<Told, 'id' | 'status'>[]): string[] {
  const paths = Map.groupBy(events, ({ id }) => id)
  return records.flatMap(({ id, status }) => {
    const told = paths.get(id) ?? []
    const path = told.map((event) => event.status)
    const illegal = told.findIndex(({ status: next, isReorganisation }, index) => {
      const before = path[index - 1] ?? 'nothing'
      // Another status is told twice: as an update, and as what the reorganisation has made of it.
      return isReorganisation || (ENDS.includes(before) && told[index + 1]?.isReorganisation)
        ? !ENDS.includes(before) || !ENDS.includes(next)
        : !FOLLOWS[before]?.includes(next)
    })
    const problems = illegal === -1 ? [] : [`${id} went ${path.join(' > ')}, which is no legal path`]
    return path.at(-1) === status
      ? problems
      : [...problems, `${id} is ${status}, but its events end ${path.join(' > ')}`]
  })
}

export interface CampaignOptions {
  readonly seeds: readonly number[]
  readonly steps: number
  /** The service is a process of its own and dies by SIGKILL now and then. */
  readonly kills: boolean
  /** Processes of the service on one database; more than one need a PostgreSQL. Default: 1. */
  readonly processes?: number | undefined
  /** Default: the embedded database. A replicated one fails over now and then. */
  readonly storage?: StorageKind | undefined
  readonly startTestChain: TestBedOptions['startTestChain']
  /** Told of each history as it ends. Answering `false` ends the campaign. */
  readonly onHistory: (history: History) => boolean
}

/** Runs histories one after the other on one chain and one database; gives what only shows at the end. */
export async function runCampaign({
  seeds,
  steps,
  kills,
  processes = 1,
  storage = 'embedded',
  startTestChain,
  onHistory,
}: CampaignOptions): Promise<string[]> {
  const testBed = await startTestBed({ killable: kills, processes, storage, startTestChain })
  const troubles = { kills, failovers: storage === 'replicated' }
  try {
    for (const seed of seeds) {
      if (!onHistory(await runHistory(testBed, { seed, steps, troubles }))) break
    }
    const unfinished = await testBed.testChain.finish(testBed)
    await testBed.stopService()
    return [...unfinished, ...(await checkEvents(testBed)), ...checkLog(testBed)]
  } finally {
    await testBed.stop()
  }
}

/** No key of ours stands in the log (I11). */
function checkLog({ logged, testChain }: TestBed): string[] {
  return [API_KEY, ...testChain.secrets]
    .filter((secret) => logged.text.includes(secret))
    .map((secret) => `the log holds a secret: ${secret.slice(0, 6)}…`)
}
