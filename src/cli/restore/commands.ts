import { readFile } from 'node:fs/promises'
import type { Schemas } from '../../contract/operations.ts'
import { FINAL_STATUSES } from '../../transactions/model/transitions.ts'
import { type ApiClient, apiCommand, formatTable, pathOf, toJson } from '../api/api-command.ts'
import { type Command, EXIT, type Terminal, UsageError } from '../command.ts'
import { writeNew } from '../files.ts'
import { connectTo } from './endpoint.ts'
import { look } from './look.ts'
import { readUnfinished, type Unfinished } from './unfinished.ts'

type Relayer = Schemas['Relayer']
type Transaction = Schemas['Transaction']

const COLUMNS = ['TRANSACTION', 'STATUS', 'CREATED', 'NONCE', 'TO', 'VALUE', 'HASH']

/** `relayer restore check`. */
export const restoreCheck: Command = apiCommand({
  name: 'restore check',
  summary: 'Show what a database restored from a backup could do twice, and write a list of decisions.',
  positionals: [],
  usage: '[--out <file>] [--rpc <url>]',
  help: [
    'Lists each relayer whose chain shows nonces or transactions that the records do not explain, and every transaction that is not in a block.',
    '',
    '  --out  Writes the transactions into a new file, as decisions for `relayer restore decide`. Review it first: complete each `included` that is',
    '         null, after a look into a block explorer, or delete the entry.',
    '  --rpc  The url of a node of an EVM network that has the states since the backup, or of a Solana network that has the history since then.',
    '         The file then says what its blocks show, and has the decisions that follow from it.',
    '',
    'Exits with 0 if nothing waits for a decision, with 1 otherwise. docs/backup-and-restore.md has all steps.',
    '',
    'Example: relayer restore check --out decisions.json --rpc https://archive.example',
  ],
  options: ['out', 'rpc'],
  run: async ({ client, options: { out, rpc }, json, terminal }) => {
    if (rpc !== undefined && out === undefined)
      throw new UsageError('--rpc needs --out <file>, which gets what the node shows.')
    const all = await readUnfinished(client)
    const waiting = all.filter(
      ({ relayer, transactions }) => isUnexplained(relayer) || transactions.length > 0,
    )
    if (out !== undefined) await writeDecisions(client, waiting, { out, rpc, terminal })
    if (json) terminal.out(toJson(waiting))
    else if (waiting.length === 0)
      terminal.out('no transaction is open, and the records explain every account')
    else for (const one of waiting) for (const line of describe(one)) terminal.out(line)
    return waiting.length === 0 ? EXIT.ok : EXIT.failed
  },
})

/** An entry of the file that an operator reviews. */
interface ListedDecision {
  readonly relayer_id: string
  readonly transaction_id: string
  readonly status: string
  readonly to?: string | undefined
  readonly value?: string | undefined
  readonly seen: string
  /** Null until the operator has decided. */
  readonly included: boolean | null
  readonly hash?: string | undefined
  /** True to cancel it before the decision, so that it is not signed again. */
  readonly cancel?: true | undefined
  readonly reason: string
}

const REASON = 'Compared with the chain after a restore.'

async function writeDecisions(
  client: ApiClient,
  waiting: readonly Unfinished[],
  {
    out,
    rpc,
    terminal,
  }: { readonly out: string; readonly rpc: string | undefined; readonly terminal: Terminal },
): Promise<void> {
  const endpoint = rpc === undefined ? undefined : connectTo(rpc)
  const entries: ListedDecision[] = []
  for (const { relayer, transactions } of waiting) {
    const evidence = await look(client, endpoint, { relayer, transactions })
    for (const transaction of transactions) {
      const { id, status, to, value } = transaction as Transaction & Partial<Record<'to' | 'value', string>>
      const found = evidence(transaction)
      // Its bytes are unchanged, so it can be executed only once.
      if (found === undefined) continue
      const { included = null, hash, canceled, seen } = found
      entries.push({
        relayer_id: relayer.id,
        transaction_id: id,
        status,
        to,
        value,
        seen,
        included,
        hash,
        cancel: canceled,
        reason: REASON,
      })
    }
  }
  await writeNew(out, `${toJson({ decisions: entries })}\n`)
  terminal.err(`${out}: ${entries.length} transactions; review it, then run: relayer restore decide ${out}`)
}

/** `relayer restore decide`. */
export const restoreDecide: Command = apiCommand({
  name: 'restore decide',
  summary: 'Apply a reviewed list of decisions about the transactions of a restored database.',
  positionals: ['file'],
  help: [
    'The file is one that `relayer restore check --out` wrote. Entries with `included` true or false are decided; those with `cancel` true are',
    'canceled before. Entries with null, and those that are refused, are named with the reason, and the command exits with 1: a submitted one can be',
    'decided when it is undecided, about a minute after a block with its nonce is final. Run the command again then; what is final is skipped.',
    '',
    'Example: relayer restore decide decisions.json',
  ],
  run: async ({ client, positionals: [file = ''], json, terminal }) => {
    const listed = readDecisions(await readFile(file, 'utf8').catch(() => undefined), file)
    const results: { readonly transaction_id: string; readonly result: string; readonly done: boolean }[] = []
    for (const [relayerId, entries] of Map.groupBy(listed, ({ relayer_id }) => relayer_id)) {
      const open: ListedDecision[] = []
      for (const entry of entries) {
        const { transaction_id } = entry
        const path = pathOf('relayers', relayerId, 'transactions', transaction_id)
        const { data } = await client.call<Transaction>('GET', path)
        if (FINAL_STATUSES.includes(data.status))
          results.push({ transaction_id, result: `is ${data.status}`, done: true })
        else if (entry.included === null)
          results.push({ transaction_id, result: 'is left open: included is null', done: false })
        else if (await canceled(client, path, { entry, transaction: data }))
          results.push({ transaction_id, result: 'is canceled', done: true })
        else open.push(entry)
      }
      results.push(...(await decideAll(client, relayerId, open)))
    }
    if (json) terminal.out(toJson(results))
    else for (const { transaction_id, result } of results) terminal.out(`${transaction_id}  ${result}`)
    return results.every(({ done }) => done) ? EXIT.ok : EXIT.failed
  },
})

/** Cancels what the entry asks to cancel. Returns true if nothing is left to be decided. */
async function canceled(
  client: ApiClient,
  path: string,
  { entry, transaction }: { readonly entry: ListedDecision; readonly transaction: Transaction },
): Promise<boolean> {
  if (entry.cancel !== true) return false
  // The bytes of what is submitted count until it is undecided; the decision is then refused, and tried again
  // with the next run.
  if (transaction.status !== 'pending' && transaction.undecided_since === undefined) return false
  const { data } = await client.call<Transaction>('DELETE', path)
  return FINAL_STATUSES.includes(data.status)
}

/** The most decisions of one request. */
const DECISIONS = 100

async function decideAll(client: ApiClient, relayerId: string, entries: readonly ListedDecision[]) {
  const results: { readonly transaction_id: string; readonly result: string; readonly done: boolean }[] = []
  for (let start = 0; start < entries.length; start += DECISIONS) {
    const decisions = entries
      .slice(start, start + DECISIONS)
      .map(({ transaction_id, included, hash, reason }) => ({ transaction_id, included, hash, reason }))
    const { data } = await client.call<Schemas['TransactionDecisions']>(
      'POST',
      pathOf('relayers', relayerId, 'transactions', 'decisions'),
      { body: JSON.stringify({ decisions }) },
    )
    const refused = new Map(data.failures.map(({ transaction_id, error }) => [transaction_id, error]))
    for (const { transaction_id, included } of decisions) {
      const error = refused.get(transaction_id)
      const result = error ?? (included ? 'was included' : 'was not included')
      results.push({ transaction_id, result, done: error === undefined })
    }
  }
  return results
}

/** @throws UsageError that names the entry and its field */
function readDecisions(text: string | undefined, file: string): readonly ListedDecision[] {
  if (text === undefined) throw new UsageError(`There is no file ${file} that can be read.`)
  let parsed: { readonly decisions?: unknown }
  try {
    parsed = JSON.parse(text) as typeof parsed
  } catch {
    throw new UsageError(`${file} is not JSON.`)
  }
  if (!Array.isArray(parsed?.decisions)) throw new UsageError(`${file} has no list "decisions".`)
  return parsed.decisions.map((entry: Partial<ListedDecision>, index) => {
    const wrong = (field: string, expected: string) =>
      new UsageError(`${file}: decisions[${index}].${field}: expected ${expected}.`)
    for (const field of ['relayer_id', 'transaction_id', 'reason'] as const)
      if (typeof entry?.[field] !== 'string' || entry[field] === '') throw wrong(field, 'a text')
    if (entry.included !== null && typeof entry.included !== 'boolean')
      throw wrong('included', 'true, false or null')
    if (entry.hash !== undefined && typeof entry.hash !== 'string') throw wrong('hash', 'a text')
    if (entry.cancel !== undefined && typeof entry.cancel !== 'boolean')
      throw wrong('cancel', 'true or false')
    return entry as ListedDecision
  })
}

/** `relayer restore accept`. */
export const restoreAccept: Command = apiCommand({
  name: 'restore accept',
  summary: 'Accept that the chain of a relayer shows more transactions than the records.',
  positionals: ['relayer id'],
  usage: '--reason <text>',
  help: [
    'The relayer then signs again. Open transactions that were already paid are paid twice, so decide about them first: relayer restore check.',
    '',
    '  --reason  The observation, for the audit log.',
    '',
    'Example: relayer restore accept local-1 --reason "nonces 12 to 14 are payouts of Tuesday, canceled here"',
  ],
  options: ['reason'],
  run: async ({ client, positionals: [id = ''], options: { reason }, json, terminal }) => {
    if (reason === undefined || reason.trim() === '')
      throw new UsageError('Describe the observation: --reason "…". It is stored in the audit log.')
    const body = JSON.stringify({ reason })
    const { data } = await client.call<Relayer>('POST', pathOf('relayers', id, 'accept-nonces'), { body })
    const state = data.paused
      ? 'is paused'
      : data.system_disabled
        ? `is disabled: ${data.disabled_reason?.details}`
        : 'signs again'
    terminal.out(json ? toJson(data) : `relayer ${data.id} ${state}`)
    return undefined
  },
})

function isUnexplained({ disabled_reason: reason }: Relayer): boolean {
  return (
    reason?.type === 'UnexplainedNonces' ||
    reason?.type === 'UnexplainedTransactions' ||
    (reason?.type === 'Multiple' && /records (do not )?explain/.test(reason.details))
  )
}

function describe({ relayer, transactions }: Unfinished): string[] {
  const { id, network_type, network, address, paused, disabled_reason } = relayer
  const state = [paused && 'paused', disabled_reason?.details].filter((part) => part).join('; ')
  const heading = `${id}  ${network_type}:${network}  ${address}  ${state === '' ? 'active' : state}`
  const rows = transactions.map((transaction) => {
    const { nonce, to, value, hash, status, created_at } = transaction as Transaction &
      Partial<Record<'nonce' | 'to' | 'value', string>>
    return [transaction.id, status, created_at, nonce, to, value, hash]
  })
  return [heading, ...(rows.length === 0 ? [] : formatTable(COLUMNS, rows).map((line) => `  ${line}`)), '']
}
