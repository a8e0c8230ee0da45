import { type RawBuilder, sql } from 'kysely'
import { MAX_TRANSFERS, type Transfer } from '../../chains/effects.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { Tx } from '../../database/db.ts'
import type { Transaction } from '../model/transaction.ts'

/** The terms by which transactions are found, besides their columns. */

/** A kind of what transactions are found by. */
export type TermKind = 'to' | 'asset' | 'reference' | 'requested_by' | 'user_id'

/** Returns a term as it is stored. */
export function termOf(kind: TermKind, value: string): string {
  return `${kind}:${kind === 'to' || kind === 'asset' ? assetOf(value) : value}`
}

/** Returns an address or the name of an asset as it is stored: those of EVM in lower case. */
export function assetOf(text: string): string {
  return text.startsWith('0x') ? text.toLowerCase() : text
}

/** A row of a term; null fields are absent. */
interface Term {
  readonly term: string
  readonly number?: number
  readonly asset?: string
  readonly amount?: string
}

/** Returns what a transaction is found by. */
function termsOf(transaction: Transaction): readonly Term[] {
  const { reference, requestedBy, userId } = transaction
  const named: Partial<Record<TermKind, string | undefined>> = {
    reference,
    requested_by: requestedBy,
    user_id: userId,
  }
  return [
    ...(Object.keys(named) as TermKind[]).flatMap((kind) => {
      const value = named[kind]
      return value === undefined ? [] : [{ term: termOf(kind, value) }]
    }),
    ...termsOfContent(transaction),
  ]
}

/**
 * Returns what a transaction is found by because of its request: who receives, what is called, and what
 * moves.
 */
function termsOfContent({ request, from }: Transaction): readonly Term[] {
  const family = FAMILIES[request.type]
  const { transfers } = family.transfers(request, from)
  const moved = transfers.flatMap(termsOfTransfer)
  const receiver = family.content.receiver?.(request)
  const called = receiver && termOf('to', receiver)
  return called === undefined || moved.some(({ term }) => term === called)
    ? moved
    : [{ term: called }, ...moved]
}

function termsOfTransfer({ to, asset, amount }: Transfer, number: number): Term[] {
  const moved = { number, asset, amount: String(amount) }
  return [
    { term: termOf('asset', asset), ...moved },
    ...(to === undefined ? [] : [{ term: termOf('to', to), ...moved }]),
  ]
}

/**
 * Builds the statement that stores the terms of transactions. `rows` has their `id`, `relayer_id` and
 * `position`. A replacement keeps the terms of the content before it: that can still be what a block
 * includes.
 */
export function insertTerms(
  transactions: readonly Transaction[],
  rows: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const terms = transactions.flatMap((transaction) =>
    termsOf(transaction).map((term) => ({ transaction_id: transaction.id, number: 0, ...term })),
  )
  return sql`
    insert into transaction_terms (relayer_id, term, position, number, asset, amount)
    select row.relayer_id, term.term, row.position, term.number, term.asset, term.amount
    from jsonb_to_recordset(${JSON.stringify(terms)}::jsonb)
      as term (transaction_id text, term text, number smallint, asset text, amount numeric)
    join ${rows} as row on row.id = term.transaction_id
    on conflict (relayer_id, term, position, number) do update set asset = excluded.asset, amount = excluded.amount`
}

/** The tokens that a transaction has moved, as the chain tells it. */
interface MovedTokens {
  readonly transactionId: string
  readonly moved: readonly Transfer[]
  /** The chain tells it no longer. */
  readonly isForgotten: boolean
}

/**
 * Stores what transactions have moved among their terms, besides what was expected of them, and takes back
 * what no block includes any more.
 */
export async function saveMoved(tx: Tx, transactions: readonly MovedTokens[]): Promise<void> {
  const changed = transactions.filter(({ moved, isForgotten }) => isForgotten || moved.length > 0)
  if (changed.length === 0) return
  await sql`
    delete from transaction_terms using transactions t
    where t.id = any(${changed.map(({ transactionId }) => transactionId)}::text[])
      and transaction_terms.position = t.position and transaction_terms.number >= ${MAX_TRANSFERS}`.execute(
    tx,
  )
  const terms = changed.flatMap(({ transactionId, moved }) =>
    moved.flatMap((transfer, index) =>
      termsOfTransfer(transfer, MAX_TRANSFERS + index).map((term) => ({
        transaction_id: transactionId,
        ...term,
      })),
    ),
  )
  if (terms.length === 0) return
  await sql`
    insert into transaction_terms (relayer_id, term, position, number, asset, amount)
    select t.relayer_id, term.term, t.position, term.number, term.asset, term.amount
    from jsonb_to_recordset(${JSON.stringify(terms)}::jsonb)
      as term (transaction_id text, term text, number smallint, asset text, amount numeric)
    join transactions t on t.id = term.transaction_id
    where not exists (
      select from transaction_terms expected
      where expected.relayer_id = t.relayer_id and expected.term = term.term and expected.position = t.position
        and expected.asset = term.asset and expected.amount = term.amount)`.execute(tx)
}
