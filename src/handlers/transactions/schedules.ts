import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { mapFields } from '../../lib/object.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { type Schedule, type ScheduleContent, upcoming } from '../../schedules/schedule.ts'
import { listRuns, listSchedules } from '../../schedules/schedules-store.ts'
import { showRun, showSchedule } from '../../schedules/show.ts'
import { withFeePayment } from '../../sponsoring/fee-payment.ts'
import type { RequestBody } from '../codecs/codec.ts'
import { readRequest } from '../codecs/codecs.ts'
import { withEncodedCall } from '../codecs/encoded-call.ts'
import { presentDryRun } from '../present/dry-run.ts'
import { toPage } from '../present/shared.ts'
import type { CoreParts, RelayerParts, TransactionParts } from '../service.ts'
import { requireRelayer } from './transactions.ts'

type Operations =
  | 'listSchedules'
  | 'createSchedule'
  | 'getSchedule'
  | 'updateSchedule'
  | 'deleteSchedule'
  | 'listScheduleRuns'
  | 'listNextRuns'
  | 'decideSchedule'

/** The most next times in the answer to a dry run. */
const SHOWN_RUNS = 10

/** The operations of the tag Schedules. */
export function scheduleHandlers({
  db,
  clock,
  relayerOf,
  runtimeOf,
  schedules,
}: CoreParts & RelayerParts & TransactionParts): Pick<HandlerMap, Operations> {
  const readContent = (relayer: Relayer, body: RequestBody) =>
    readRepeated({ db, relayer, chain: runtimeOf(relayer).chain }, body)

  async function requireSchedule(path: { relayer_id: string; schedule_id: string }): Promise<Schedule> {
    const { id } = await requireRelayer(relayerOf, path.relayer_id)
    return schedules.get({ relayerId: id, id: path.schedule_id })
  }

  return {
    listSchedules: async ({ query }, { principal: { visibility } }) => {
      const page = toPage(query)
      const { relayer_id: relayerId, state } = query
      const { items, total } = await listSchedules(db, { visibility, relayerId, state, ...page })
      return { data: items.map(showSchedule), pagination: page.describe(total) }
    },
    createSchedule: async ({ path, query, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const content: ScheduleContent = {
        name: body.name,
        cron: body.cron,
        timezone: body.timezone ?? 'UTC',
        ...(await readContent(relayer, body.transaction)),
        validForSeconds: body.valid_for_seconds,
        missed: body.missed ?? 'once',
        overlap: body.overlap ?? 'skip',
        approval: body.approval ?? 'each_run',
        endsAt: readTime(body.ends_at),
        maxRuns: body.max_runs,
      }
      if (!query.dry_run) {
        const { schedule, logs } = await schedules.create(relayer, content, actor)
        return { data: showSchedule(schedule), logs }
      }
      const { schedule, run } = await schedules.plan(relayer, content, actor)
      const times = upcoming(schedule, SHOWN_RUNS, new Date(clock.now()))
      return {
        data: {
          dry_run: true,
          state: schedule.state,
          next_runs: times.map((at) => at.toISOString()),
          run: presentDryRun(run),
        },
        logs: run.logs,
      }
    },
    getSchedule: async ({ path }) => ({ data: showSchedule(await requireSchedule(path)) }),
    updateSchedule: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { paused, name: _name, ...others } = body
      const given = body.transaction && (await readContent(relayer, body.transaction))
      const adopts = paused === false || Object.keys(others).length > 0
      const patch = async (present: Schedule) => patched(present, body, given)
      const { schedule, logs } = await schedules.change(relayer, path.schedule_id, {
        patch,
        paused,
        adopts,
        actor,
      })
      return { data: showSchedule(schedule), logs }
    },
    deleteSchedule: async ({ path }, { actor }) => {
      const { id } = await requireRelayer(relayerOf, path.relayer_id)
      await schedules.delete({ relayerId: id, id: path.schedule_id }, actor)
      return { data: 'Schedule deleted successfully' }
    },
    listScheduleRuns: async ({ path, query }) => {
      const { id } = await requireSchedule(path)
      const page = toPage(query)
      const { items, total } = await listRuns(db, { id, ...page })
      return { data: items.map(showRun), pagination: page.describe(total) }
    },
    listNextRuns: async ({ path, query: { count } }) => {
      const times = upcoming(await requireSchedule(path), Number(count), new Date(clock.now()))
      return { data: times.map((at) => at.toISOString()) }
    },
    decideSchedule: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      return { data: showSchedule(await schedules.decide(relayer, path.schedule_id, body, actor)) }
    },
  }
}

type Content = Pick<ScheduleContent, 'request' | 'body' | 'lane' | 'reference' | 'description'>

interface Reading {
  readonly db: CoreParts['db']
  readonly relayer: Relayer
  readonly chain: Chain
}

/**
 * Reads what each run sends.
 * @throws AppError `invalid_request`, `wrong_network_type`
 */
async function readRepeated({ db, relayer, chain }: Reading, sent: RequestBody): Promise<Content> {
  for (const [field, remedy] of ONCE)
    if (sent[field] !== undefined)
      throw new AppError(
        'invalid_request',
        `body.transaction.${field}: expected to be absent in a schedule${remedy}.`,
      )
  const body = await withEncodedCall({ db, relayerId: relayer.id, chain }, sent)
  const request: ChainRequest = await withFeePayment(
    db,
    { relayer, chain },
    readRequest(body, relayer, chain),
  )
  const { lane, reference, description } = body
  return { request, body: withDigits(body), lane, reference, description }
}

/** Amounts are shown as decimal strings, of which no reader loses a digit. */
function withDigits<T extends object>(content: T): object {
  return mapFields(content, digitsOf)
}

function digitsOf(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(digitsOf)
  return typeof value === 'object' && value !== null ? withDigits(value) : value
}

/** The fields of a request that are about one transaction. */
const ONCE = [
  ['valid_from', '; the cron expression says when it runs'],
  ['valid_until', '; use valid_for_seconds'],
  ['after', ''],
  ['idempotency_key', '; each run has one by itself'],
] as const

function patched(
  present: Schedule,
  body: Schemas['UpdateScheduleRequest'],
  given: Content | undefined,
): ScheduleContent {
  const { request, body: shown, lane, reference, description } = given ?? present
  return {
    name: body.name === undefined ? present.name : (body.name ?? undefined),
    cron: body.cron ?? present.cron,
    timezone: body.timezone ?? present.timezone,
    request,
    body: shown,
    lane,
    reference,
    description,
    validForSeconds:
      body.valid_for_seconds === undefined ? present.validForSeconds : (body.valid_for_seconds ?? undefined),
    missed: body.missed ?? present.missed,
    overlap: body.overlap ?? present.overlap,
    approval: body.approval ?? present.approval,
    endsAt: body.ends_at === undefined ? present.endsAt : readTime(body.ends_at ?? undefined),
    maxRuns: body.max_runs === undefined ? present.maxRuns : (body.max_runs ?? undefined),
  }
}

function readTime(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
