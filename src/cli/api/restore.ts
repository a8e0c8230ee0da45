import type { Schemas } from '../../contract/operations.ts'
import { type Command, EXIT, UsageError } from '../command.ts'
import { type ApiClient, apiCommand, formatTable, pathOf, queryOf, toJson } from './api-command.ts'

type Relayer = Schemas['Relayer']
type Transaction = Schemas['Transaction']

/** The statuses whose transactions are signed again, or for the first time, when nothing stops the relayer. */
const OPEN = ['pending', 'sent', 'submitted'] as const

const COLUMNS = ['TRANSACTION', 'STATUS', 'CREATED', 'NONCE', 'TO', 'VALUE', 'HASH']

/** A relayer, and its transactions that are not final. */
interface Unfinished {
  readonly relayer: Relayer
  readonly transactions: readonly Transaction[]
}

/** `relayer restore check`. */
export const restoreCheck: Command = apiCommand({
  name: 'restore check',
  summary: 'Show what a database restored from a backup could do twice.',
  positionals: [],
  help: [
    'Lists each relayer whose chain shows nonces or transactions that the records do not explain, and every transaction that is not in a block.',
    'Look up each of them in a block explorer: cancel those that were paid or canceled since the backup, then accept the relayer, or resume it',
    'if it is paused.',
    'Exits with 0 if nothing waits for a decision, with 1 otherwise. docs/backup-and-restore.md has all steps.',
    '',
    'Example: relayer restore check',
  ],
  run: async ({ client, json, terminal }) => {
    const all = await readUnfinished(client)
    const waiting = all.filter(
      ({ relayer, transactions }) => isUnexplained(relayer) || transactions.length > 0,
    )
    if (json) terminal.out(toJson(waiting))
    else if (waiting.length === 0)
      terminal.out('no transaction is open, and the records explain every account')
    else for (const one of waiting) for (const line of describe(one)) terminal.out(line)
    return waiting.length === 0 ? EXIT.ok : EXIT.failed
  },
})

/** `relayer restore accept`. */
export const restoreAccept: Command = apiCommand({
  name: 'restore accept',
  summary: 'Accept that the chain of a relayer shows more transactions than the records.',
  positionals: ['relayer id'],
  usage: '--reason <text>',
  help: [
    'The relayer then signs again. Open transactions that were already paid are paid twice, so run `relayer restore check` first.',
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

/** Reads each relayer with its transactions that are not final. */
export async function readUnfinished(client: ApiClient): Promise<Unfinished[]> {
  const relayers = await readAll<Relayer>(client, '/relayers', {})
  const all: Unfinished[] = []
  for (const relayer of relayers) {
    const path = pathOf('relayers', relayer.id, 'transactions')
    const transactions: Transaction[] = []
    for (const status of OPEN) transactions.push(...(await readAll<Transaction>(client, path, { status })))
    all.push({ relayer, transactions })
  }
  return all
}

const PER_PAGE = 100

async function readAll<Item>(
  client: ApiClient,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page += 1) {
    const { data } = await client.call<Item[]>(
      'GET',
      `${path}${queryOf({ ...query, page: `${page}`, per_page: `${PER_PAGE}` })}`,
    )
    items.push(...data)
    if (data.length < PER_PAGE) return items
  }
}

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
