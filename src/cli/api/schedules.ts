import type { Schemas } from '../../contract/operations.ts'
import type { Command } from '../command.ts'
import {
  type ApiAnswer,
  type ApiArguments,
  apiCommand,
  formatRecord,
  formatTable,
  pathOf,
  queryOf,
  requireJson,
  toJson,
} from './api-command.ts'
import { formatTime } from './transaction-lines.ts'

type Schedule = Schemas['Schedule']
type ScheduleRun = Schemas['ScheduleRun']

const IDS = ['relayer id', 'schedule id'] as const
const EXAMPLE_IDS = 'local-1 3f1d2a90-0b5c-4e0f-9a3c-5d1f7b2c8e44'
const REQUEST = `'{"to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "1"}'`

/** `relayer schedule list`. */
export const scheduleList: Command = apiCommand({
  name: 'schedule list',
  summary: 'List the schedules of a relayer, or of all relayers.',
  positionals: [],
  optional: ['relayer id'],
  usage: '[--state <state>] [--page <number>]',
  help: [
    'Shows up to 100 schedules.',
    '',
    '  --state  Only those that are active, paused, awaiting_approval or completed.',
    '',
    'Example: relayer schedule list --state active',
  ],
  options: ['state', 'page'],
  run: async ({ client, positionals: [relayerId], options: { state, page }, json, terminal }) => {
    const query = queryOf({ relayer_id: relayerId, state, page, per_page: '100' })
    const { data } = await client.call<Schedule[]>('GET', `/schedules${query}`)
    if (json) {
      terminal.out(toJson(data))
      return undefined
    }
    const rows = data.map(
      ({ id, relayer_id: relayer, name, state: is, cron, timezone, next_at: next, runs }) => [
        relayer,
        id,
        is,
        `${cron} ${timezone}`,
        next && formatTime(next),
        runs,
        name,
      ],
    )
    for (const line of formatTable(['RELAYER', 'ID', 'STATE', 'WHEN', 'NEXT', 'SENT', 'NAME'], rows))
      terminal.out(line)
    return undefined
  },
})

/** The options of a new schedule, and their names in the contract. */
const FIELDS = {
  name: 'name',
  timezone: 'timezone',
  'valid-for': 'valid_for_seconds',
  missed: 'missed',
  overlap: 'overlap',
  approval: 'approval',
  'ends-at': 'ends_at',
  'max-runs': 'max_runs',
} as const

/** Fields that are integers in the contract, so that its own refusal names a text that is none. */
const INTEGERS: ReadonlySet<string> = new Set(['valid_for_seconds', 'max_runs'])

/** `relayer schedule create`. */
export const scheduleCreate: Command = apiCommand({
  name: 'schedule create',
  summary: 'Send a transaction again and again.',
  positionals: ['relayer id', 'request as JSON'],
  usage:
    '--cron <expression> [--timezone <name>] [--name <text>] [--valid-for <seconds>] [--missed <what>] [--overlap <what>] [--approval <when>] [--ends-at <time>] [--max-runs <number>] [--dry-run]',
  help: [
    'The request is the body of sendTransaction. Each run sends it in the name of the API key of this command.',
    '',
    '  --cron      Minute, hour, day of month, month, day of week: "0 9 25 * *".',
    '  --timezone  Such as Europe/Berlin. Default: UTC.',
    '  --valid-for A transaction that is not included after this time, in seconds, expires.',
    '  --missed    What happens to times that were missed: skip, once (default) or all.',
    '  --overlap   What happens while the last transaction is not final: skip (default) or allow.',
    '  --approval  Where rules require one: each_run (default), or once for all.',
    '  --dry-run   Shows the next runs and what one would cost, and changes nothing.',
    '',
    `Example: relayer schedule create local-1 ${REQUEST} --cron "0 9 25 * *" --timezone Europe/Berlin --name Payroll`,
  ],
  options: ['cron', ...Object.keys(FIELDS)],
  flags: ['dry-run'],
  run: async (args) => {
    const { client, positionals, options, flags } = args
    const [relayerId = '', request = ''] = positionals
    const others = Object.entries(FIELDS).flatMap(([option, field]) => {
      const value = options[option]
      return value === undefined ? [] : [[field, INTEGERS.has(field) ? asInteger(value) : value] as const]
    })
    const settings = JSON.stringify({ cron: options.cron, ...Object.fromEntries(others) })
    // The request is inserted as it is, so that no integer is rounded.
    const body = `${settings.slice(0, -1)}${settings === '{}' ? '' : ','}"transaction":${requireJson(request, REQUEST)}}`
    const dryRun = flags.has('dry-run') ? '?dry_run=true' : ''
    const path = `${pathOf('relayers', relayerId, 'schedules')}${dryRun}`
    return show(args, await client.call<object>('POST', path, { body }))
  },
})

function asInteger(text: string): number | string {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : text
}

/** `relayer schedule show`. */
export const scheduleShow: Command = apiCommand({
  name: 'schedule show',
  summary: 'Show a schedule.',
  positionals: IDS,
  help: [`Example: relayer schedule show ${EXAMPLE_IDS}`],
  run: async (args) => show(args, await args.client.call<Schedule>('GET', pathIn(args))),
})

/** `relayer schedule next`. */
export const scheduleNext: Command = apiCommand({
  name: 'schedule next',
  summary: 'List the next times at which a schedule runs.',
  positionals: IDS,
  usage: '[--count <number>]',
  help: [`Example: relayer schedule next ${EXAMPLE_IDS} --count 3`],
  options: ['count'],
  run: async (args) => {
    const { client, options, json, terminal } = args
    const path = `${pathIn(args)}/next-runs${queryOf({ count: options.count })}`
    const { data } = await client.call<string[]>('GET', path)
    for (const line of json ? [toJson(data)] : data.map(formatTime)) terminal.out(line)
    return undefined
  },
})

/** `relayer schedule runs`. */
export const scheduleRuns: Command = apiCommand({
  name: 'schedule runs',
  summary: 'List what became of the times of a schedule, newest first.',
  positionals: IDS,
  usage: '[--page <number>]',
  help: ['Shows up to 100 runs.', '', `Example: relayer schedule runs ${EXAMPLE_IDS}`],
  options: ['page'],
  run: async (args) => {
    const { client, options, json, terminal } = args
    const path = `${pathIn(args)}/runs${queryOf({ page: options.page, per_page: '100' })}`
    const { data } = await client.call<ScheduleRun[]>('GET', path)
    const rows = data.map(({ scheduled_at: at, outcome, times, transaction_id: id, reason }) => [
      formatTime(at),
      times === 1 ? outcome : `${outcome} (${times} times)`,
      id,
      reason,
    ])
    const lines = json ? [toJson(data)] : formatTable(['TIME', 'OUTCOME', 'TRANSACTION', 'REASON'], rows)
    for (const line of lines) terminal.out(line)
    return undefined
  },
})

/** `relayer schedule change`. */
export const scheduleChange: Command = apiCommand({
  name: 'schedule change',
  summary: 'Change a schedule.',
  positionals: [...IDS, 'change as JSON'],
  help: [
    'The change is the body of updateSchedule. The schedule sends in the name of the API key of this command from then on.',
    '',
    `Example: relayer schedule change ${EXAMPLE_IDS} '{"cron": "0 10 25 * *"}'`,
  ],
  run: async (args) => {
    const body = requireJson(args.positionals[2] ?? '', `'{"cron": "0 10 25 * *"}'`)
    return show(args, await args.client.call<Schedule>('PATCH', pathIn(args), { body }))
  },
})

/** `relayer schedule pause` and `resume`. */
export const [schedulePause, scheduleResume] = (['pause', 'resume'] as const).map((verb) =>
  apiCommand({
    name: `schedule ${verb}`,
    summary:
      verb === 'pause' ? 'Send nothing until a schedule is resumed.' : 'Let a paused schedule run again.',
    positionals: IDS,
    help: [
      verb === 'pause'
        ? 'Transactions that were sent stay; relayer tx cancel ends one.'
        : 'The times of the pause are not missed. The schedule sends in the name of the API key of this command from then on.',
      '',
      `Example: relayer schedule ${verb} ${EXAMPLE_IDS}`,
    ],
    run: async (args) => {
      const body = JSON.stringify({ paused: verb === 'pause' })
      return show(args, await args.client.call<Schedule>('PATCH', pathIn(args), { body }))
    },
  }),
) as [Command, Command]

/** `relayer schedule delete`. */
export const scheduleDelete: Command = apiCommand({
  name: 'schedule delete',
  summary: 'Delete a schedule with the record of its runs.',
  positionals: IDS,
  help: ['Transactions that were sent stay.', '', `Example: relayer schedule delete ${EXAMPLE_IDS}`],
  run: async (args) => {
    const { data } = await args.client.call<string>('DELETE', pathIn(args))
    args.terminal.out(args.json ? toJson(data) : data)
    return undefined
  },
})

/** `relayer schedule approve` and `refuse`. */
export const [scheduleApprove, scheduleRefuse] = (['approve', 'refuse'] as const).map((decision) =>
  apiCommand({
    name: `schedule ${decision}`,
    summary: `${decision === 'approve' ? 'Approve' : 'Refuse'} a schedule that waits for an approval.`,
    positionals: IDS,
    usage: '--revision <number> [--reason <text>]',
    help: [
      '  --revision  The version that you have read (relayer schedule show): a change in the meantime is not decided.',
      '',
      `Example: relayer schedule ${decision} ${EXAMPLE_IDS} --revision 1`,
    ],
    options: ['revision', 'reason'],
    run: async (args) => {
      const { revision = '', reason } = args.options
      const body = JSON.stringify({ decision, version: asInteger(revision), reason })
      return show(args, await args.client.call<Schedule>('POST', `${pathIn(args)}/approval`, { body }))
    },
  }),
) as [Command, Command]

function pathIn({ positionals: [relayerId = '', id = ''] }: ApiArguments): string {
  return pathOf('relayers', relayerId, 'schedules', id)
}

async function show({ json, terminal }: ApiArguments, { data, logs }: ApiAnswer<object>): Promise<undefined> {
  for (const line of json ? [toJson(data)] : formatRecord(data)) terminal.out(line)
  if (!json) for (const log of logs) terminal.out(`note: ${log}`)
}
