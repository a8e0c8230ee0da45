import { setTimeout } from 'node:timers/promises'
import { withAmounts } from '../../../console/src/format/amounts.ts'
import { parseJson } from '../../contract/exact-integers.ts'
import type { Schemas } from '../../contract/operations.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import { type Command, EXIT, UsageError } from '../command.ts'
import {
  type ApiAnswer,
  type ApiArguments,
  type ApiClient,
  ApiFailure,
  apiCommand,
  formatRecord,
  pathOf,
  queryOf,
  requireJson,
  toJson,
} from './api-command.ts'
import {
  type CurrencyOf,
  formatTime,
  readCurrencies,
  stateLine,
  transactionLines,
  transactionTable,
} from './transaction-lines.ts'

type Transaction = Schemas['Transaction']
type Shown = Schemas['TransactionWithAttempts']

const IDS = ['relayer id', 'transaction id'] as const
const EXAMPLE_IDS = 'local-1 0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11'
const REQUEST = `'{"to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "1", "speed": "fast"}'`

/** `relayer tx send`. */
export const txSend: Command = apiCommand({
  name: 'tx send',
  summary: 'Send a transaction.',
  positionals: ['relayer id', 'request as JSON'],
  usage: '[--idempotency-key <key>] [--dry-run] [--follow]',
  help: [
    'The request is the body of sendTransaction; /docs of the service describes it for each network type.',
    '',
    '  --idempotency-key Sends it only once, even if the command is repeated.',
    '  --dry-run          Shows what would happen, and changes nothing.',
    '  --follow           Waits until the transaction is final. Exits with 0 if it is confirmed, with 1 otherwise.',
    '',
    `Example: relayer tx send local-1 ${REQUEST} --follow`,
  ],
  options: ['idempotency-key'],
  flags: ['dry-run', 'follow'],
  run: async (args) => {
    const [relayerId = '', request = ''] = args.positionals
    const key = args.options['idempotency-key']
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const path = `${pathOf('relayers', relayerId, 'transactions')}${dryRunQuery(args)}`
    const answer = await args.client.call<Shown>('POST', path, {
      body: requireJson(request, REQUEST),
      headers,
    })
    await show(args, answer)
    return args.flags.has('follow') && !args.flags.has('dry-run')
      ? follow(args, { relayerId, id: answer.data.id })
      : undefined
  },
})

/** `relayer tx list`. */
export const txList: Command = apiCommand({
  name: 'tx list',
  summary: 'List the transactions of a relayer, or of all relayers, newest first.',
  positionals: [],
  optional: ['relayer id'],
  usage:
    '[--status <status>] [--to <address>] [--asset <asset>] [--reference <text>] [--key <id>] [--user <id>] [--after <time>] [--before <time>] [--page <number>] [--per-page <number>] [--csv]',
  help: [
    'Shows whom each pays and how much, when, and for what fee: 20 transactions by default. Without a relayer id, it shows the newest ones of',
    'all relayers. Amounts have the symbol of their network if the API key has the scopes relayers:read and networks:read.',
    '',
    '  --to               Only those with a transfer to this account, also of a token, or sent to this address.',
    '  --asset            Only those with a transfer of this asset: native, or the address of a token.',
    '  --reference        Only those with this reference.',
    '  --key, --user      Only those that this API key sent, or that were sent for this user.',
    '  --after, --before  Only those accepted at this time or later, or before it, such as 2026-11-20T00:00:00Z.',
    '  --page             Does not apply to a search: without a relayer id, and with all of these but --status.',
    '  --csv              Prints all that fit, up to 50,000, oldest first, as a table for spreadsheets: a row for each transfer.',
    '',
    'Example: relayer tx list local-1 --to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --after 2026-11-20T00:00:00Z',
  ],
  options: ['status', 'to', 'asset', 'reference', 'key', 'user', 'after', 'before', 'page', 'per-page'],
  flags: ['csv'],
  run: async ({ client, positionals: [id], options, flags, json, terminal }) => {
    if (flags.has('csv')) {
      for await (const line of readLines(await client.stream(exportPath(id, options)))) terminal.out(line)
      return undefined
    }
    const { data } = await client.call<Transaction[]>('GET', listPath(id, options))
    if (json) {
      terminal.out(toJson(data))
      return undefined
    }
    const shape = { currencyOf: await readCurrencies(client), namesRelayer: id === undefined }
    for (const line of transactionTable(data, shape)) terminal.out(line)
    return undefined
  },
})

/** `relayer tx show`. */
export const txShow: Command = apiCommand({
  name: 'tx show',
  summary: 'Show a transaction with all its signed attempts.',
  positionals: IDS,
  help: [`Example: relayer tx show ${EXAMPLE_IDS}`],
  run: async (args) => show(args, await args.client.call<Shown>('GET', transactionPath(args))),
})

/** `relayer tx receipt`. */
export const txReceipt: Command = apiCommand({
  name: 'tx receipt',
  summary: 'Show the block of a transaction, its fee, and the logs or events that it emitted.',
  positionals: IDS,
  help: ['The service asks the network for what was emitted.', `Example: relayer tx receipt ${EXAMPLE_IDS}`],
  run: async (args) => show(args, await args.client.call<object>('GET', `${transactionPath(args)}/receipt`)),
})

/** `relayer tx replace`. */
export const txReplace: Command = apiCommand({
  name: 'tx replace',
  summary: 'Replace a waiting transaction with a new request.',
  positionals: [...IDS, 'request as JSON'],
  usage: '[--dry-run]',
  help: [
    'Only one of the two can ever be executed. --dry-run shows what would happen, and changes nothing.',
    '',
    `Example: relayer tx replace ${EXAMPLE_IDS} ${REQUEST}`,
  ],
  flags: ['dry-run'],
  run: async (args) => {
    const [, , request = ''] = args.positionals
    const path = `${transactionPath(args)}${dryRunQuery(args)}`
    return show(args, await args.client.call<Shown>('PUT', path, { body: requireJson(request, REQUEST) }))
  },
})

/** `relayer tx cancel`. */
export const txCancel: Command = apiCommand({
  name: 'tx cancel',
  summary: 'Cancel a waiting transaction.',
  positionals: IDS,
  help: [
    'A transaction that was never broadcast is canceled immediately; otherwise a no-op takes its place.',
    '',
    `Example: relayer tx cancel ${EXAMPLE_IDS}`,
  ],
  run: async (args) => show(args, await args.client.call<Shown>('DELETE', transactionPath(args))),
})

/** `relayer tx approve`. */
export const txApprove: Command = decisionCommand(
  'approve',
  'Approve a transaction that waits for an approval.',
)

/** `relayer tx refuse`. */
export const txRefuse: Command = decisionCommand('refuse', 'Refuse a transaction that waits for an approval.')

function decisionCommand(decision: 'approve' | 'refuse', summary: string): Command {
  return apiCommand({
    name: `tx ${decision}`,
    summary,
    positionals: IDS,
    usage: '[--reason <text>]',
    help: [
      'The API key needs the scope transactions:approve, and must not be the one that sent it.',
      '',
      `Example: relayer tx ${decision} ${EXAMPLE_IDS}`,
    ],
    options: ['reason'],
    run: async (args) => {
      const body = JSON.stringify({ decision, reason: args.options.reason })
      return show(args, await args.client.call<object>('POST', `${transactionPath(args)}/approval`, { body }))
    },
  })
}

/** `relayer tx why`. */
export const txWhy: Command = apiCommand({
  name: 'tx why',
  summary: 'Explain why a transaction waits, and what happens next.',
  positionals: IDS,
  help: [`Example: relayer tx why ${EXAMPLE_IDS}`],
  run: async (args) => {
    const { client, json, terminal } = args
    const { data } = await client.call<Schemas['Diagnosis']>('GET', `${transactionPath(args)}/diagnosis`)
    if (json) {
      terminal.out(toJson(data))
      return undefined
    }
    const [relayerId = '', id] = args.positionals
    const currencies = await readCurrencies(client)
    const currency = currencies(await readTransaction(args, { relayerId, id }))
    const out = (line: string) => terminal.out(withAmounts(line, currency))
    out(`${data.status}: ${data.summary}`)
    for (const { code, message } of data.findings) out(`  ${code}: ${message}`)
    const at = data.next_action.at === undefined ? '' : ` at ${data.next_action.at}`
    out(`next${at}: ${data.next_action.message}`)
    return undefined
  },
})

/** `relayer tx follow`. */
export const txFollow: Command = apiCommand({
  name: 'tx follow',
  summary: 'Print the changes of the transactions of a relayer as they happen.',
  positionals: ['relayer id'],
  optional: ['transaction id'],
  help: [
    'Prints one line for each change, with its time. With a transaction id, it ends when that transaction is final: with 0 when it is confirmed,',
    'with 1 otherwise. The API key needs the scopes events:read and transactions:read.',
    '',
    `Example: relayer tx follow ${EXAMPLE_IDS}`,
  ],
  run: (args) => {
    const [relayerId = '', id] = args.positionals
    return follow(args, { relayerId, id })
  },
})

function listPath(id: string | undefined, options: ApiArguments['options']): string {
  const { status, page, 'per-page': per_page = '20' } = options
  const sought = soughtBy(options)
  const isSearch = Object.values(sought).some((value) => value !== undefined)
  if (id !== undefined && !isSearch)
    return `${pathOf('relayers', id, 'transactions')}${queryOf({ status, page, per_page })}`
  if (page !== undefined)
    throw new UsageError('--page needs a relayer id, and no search. Usage: relayer tx list <relayer id>')
  return `${pathOf('transactions')}${queryOf({ status, relayer_id: id, limit: per_page, ...sought })}`
}

function exportPath(id: string | undefined, options: ApiArguments['options']): string {
  const { status, page, 'per-page': perPage } = options
  if (page !== undefined || perPage !== undefined)
    throw new UsageError('--csv has no pages: it prints all that fit. Leave out --page and --per-page.')
  return `/reports/transactions${queryOf({ status, relayer_id: id, ...soughtBy(options) })}`
}

function soughtBy({ to, asset, reference, key, user, after, before }: ApiArguments['options']) {
  return {
    to,
    asset,
    reference,
    requested_by: key,
    user_id: user,
    created_after: after,
    created_before: before,
  }
}

/** @throws ApiFailure if the stream breaks before its end */
async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${text}`.split('\r\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch {
    throw new ApiFailure('The service did not send the table to its end. Repeat the command.')
  }
}

function transactionPath({ positionals: [relayerId = '', id = ''] }: ApiArguments): string {
  return pathOf('relayers', relayerId, 'transactions', id)
}

function dryRunQuery({ flags }: ApiArguments): string {
  return flags.has('dry-run') ? '?dry_run=true' : ''
}

async function show(
  { client, json, terminal }: ApiArguments,
  { data, logs }: ApiAnswer<object>,
): Promise<undefined> {
  const lines = json ? [toJson(data)] : await linesOf(client, data)
  for (const line of lines) terminal.out(line)
  if (!json) for (const log of logs) terminal.out(`note: ${log}`)
}

async function linesOf(client: ApiClient, data: object): Promise<string[]> {
  if (!isShown(data)) return formatRecord(data)
  const currencyOf = await readCurrencies(client)
  return transactionLines(data, currencyOf(data))
}

/** Distinguishes a transaction from the answer of a dry run, a receipt or an approval. */
function isShown(data: object): data is Shown {
  return 'status' in data && 'created_at' in data && 'network_type' in data
}

type RelayerEvent = Schemas['Event']

/** The transactions to follow. */
interface Followed {
  readonly relayerId: string
  /** Absent for all of the relayer. */
  readonly id?: string | undefined
}

/** Time in ms until a stream that ended is opened again. A proxy may end every one immediately. */
const REOPEN_AFTER_MS = 1_000

/**
 * Prints changes until the transaction is final, or forever without one, and returns the exit code. It begins
 * with the newest event of the transaction, and a stream that ends or breaks is opened again after the last
 * received one, so changes are printed in their order and none is missed.
 * @throws ApiFailure if the service refuses, or no longer answers
 */
async function follow(args: ApiArguments, { relayerId, id }: Followed): Promise<number> {
  const print = createPrinter(args)
  const newest = id === undefined ? undefined : await readNewestEvent(args, { relayerId, id })
  if (newest !== undefined) await print(newest.payload, newest.created_at)
  if (newest !== undefined && isFinal(newest.payload.status)) return exitCodeOf(newest.payload)
  let after = newest?.number
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) await setTimeout(REOPEN_AFTER_MS)
    const query = queryOf({ relayer_id: relayerId, after })
    const stream = await args.client.stream(`/events/stream${query}`)
    if (after === undefined && id !== undefined) {
      // Its events were deleted. The stream is open, so nothing that happens from now on is missed.
      const now = await readTransaction(args, { relayerId, id })
      await print(now, timeOf(now))
      if (isFinal(now.status)) {
        await stream.cancel()
        return exitCodeOf(now)
      }
    }
    for await (const { number, payload, created_at: at } of readEvents(stream)) {
      after = number
      if (payload === undefined) continue
      if (!isTransaction(payload) || (id !== undefined && payload.id !== id)) continue
      await print(payload, at ?? timeOf(payload))
      if (id !== undefined && isFinal(payload.status)) return exitCodeOf(payload)
    }
  }
}

/** The time of the newest thing that the record has one for. */
function timeOf({ confirmed_at, sent_at, created_at }: Transaction): string {
  return confirmed_at ?? sent_at ?? created_at
}

/** The newest event of a transaction; `undefined` if it has none, because they were deleted. */
async function readNewestEvent(
  { client }: ApiArguments,
  { relayerId, id }: Followed,
): Promise<TransactionEvent | undefined> {
  let newest: TransactionEvent | undefined
  for (;;) {
    const query = queryOf({ relayer_id: relayerId, transaction_id: id, after: newest?.number, limit: '100' })
    const { data } = await client.call<RelayerEvent[]>('GET', `/events${query}`)
    const [last] = data.filter(isAboutTransaction).slice(-1)
    if (last === undefined) return newest
    newest = last
  }
}

/** Prints each state once: what changes between two events is not always something that a line shows. */
function createPrinter({ client, json, terminal }: ApiArguments) {
  const last = new Map<string, string>()
  let currencies: CurrencyOf | undefined
  return async (transaction: Transaction, at: string): Promise<void> => {
    if (json) {
      terminal.out(toJson(transaction))
      return
    }
    currencies ??= await readCurrencies(client)
    const line = stateLine(transaction, currencies(transaction))
    if (last.get(transaction.id) === line) return
    last.set(transaction.id, line)
    terminal.out(`${formatTime(at)}  ${line}`)
  }
}

async function readTransaction(
  { client }: ApiArguments,
  { relayerId, id = '' }: Followed,
): Promise<Transaction> {
  return (await client.call<Transaction>('GET', pathOf('relayers', relayerId, 'transactions', id))).data
}

/** The number after which a stream continues. The beginning of a stream has no payload. */
type Streamed = Pick<RelayerEvent, 'number'> & Partial<Pick<RelayerEvent, 'payload' | 'created_at'>>

/**
 * Reads server-sent events as the service sends them: first only an `id`, then one line of JSON for each
 * event.
 */
async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<Streamed> {
  let rest = ''
  for await (const text of untilBroken(stream)) {
    const frames = `${rest}${text}`.split('\n\n')
    // A frame that was cut off counts as not received, with its number.
    rest = frames.pop() ?? ''
    yield* frames.flatMap((frame) => readFrame(frame) ?? [])
  }
}

/** A connection that breaks ends the stream, as the service does when it stops. */
async function* untilBroken(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  try {
    yield* stream.pipeThrough(new TextDecoderStream())
  } catch (error) {
    // `fetch` says it with this type.
    if (!(error instanceof TypeError)) throw error
  }
}

function readFrame(frame: string): Streamed | undefined {
  const fieldOf = (name: string) =>
    frame
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const [number, data] = [fieldOf('id'), fieldOf('data')]
  if (data !== undefined) return parseJson(data) as RelayerEvent
  return number === undefined ? undefined : { number }
}

type TransactionPayload = Extract<RelayerEvent['payload'], Transaction>
type TransactionEvent = RelayerEvent & { readonly payload: TransactionPayload }

function isAboutTransaction(event: RelayerEvent): event is TransactionEvent {
  return isTransaction(event.payload)
}

function isTransaction(payload: RelayerEvent['payload']): payload is TransactionPayload {
  return 'status' in payload && 'created_at' in payload
}

function exitCodeOf({ status }: Transaction): number {
  return status === 'confirmed' ? EXIT.ok : EXIT.failed
}
