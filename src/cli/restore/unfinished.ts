import type { Schemas } from '../../contract/operations.ts'
import { type ApiClient, pathOf, queryOf } from '../api/api-command.ts'

type Relayer = Schemas['Relayer']
type Transaction = Schemas['Transaction']

/**
 * The statuses whose transactions are signed again, or for the first time, when nothing stops the relayer.
 */
export const OPEN = ['pending', 'sent', 'submitted'] as const

/** A relayer, and its transactions that are not final. */
export interface Unfinished {
  readonly relayer: Relayer
  readonly transactions: readonly Transaction[]
}

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

/** The most records of one answer. */
export const PER_PAGE = 100

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
