import { sql } from 'kysely'
import type { FeePayment } from '../chains/sponsoring.ts'
import type { Db, Tx } from '../database/db.ts'

/** A stored quote. */
export interface Quote {
  readonly id: string
  /** The relayer that callers know; its accounts share its quotes. */
  readonly relayerId: string
  /** The SHA-256 of the requested content and token. */
  readonly content: string
  readonly token: string
  /** In base units of the token. */
  readonly amount: bigint
  /** The network fee that is paid for, in the smallest unit. */
  readonly fee: bigint
  readonly payer: string
  readonly validUntil: Date
  /** Identifies the transaction that was built, and the account that it pays. */
  readonly built?: { readonly hash: string; readonly receiver: string } | undefined
}

/** Unused quotes are deleted this long after their end, in ms, so that a late user is told why. */
const KEPT_MS = 3_600_000

/** Used ones are deleted later, in ms: until then they count for their payer. */
const USED_KEPT_MS = 172_800_000

/** The most rows that one request deletes. */
const MOST_DELETED = 100

/**
 * Stores a quote, and deletes some that ended long ago. The same transaction built again is the same quote. A
 * build takes the place of the quote `of`, so that one quote gives its price once.
 */
export async function saveQuote(
  db: Db,
  { id, relayerId, content, token, amount, fee, payer, validUntil, built }: Quote,
  { now, of }: { readonly now: Date; readonly of?: string | undefined },
): Promise<void> {
  await db
    .insertInto('sponsored_quotes')
    .values({
      id,
      relayer_id: relayerId,
      content,
      hash: built?.hash ?? null,
      token,
      amount,
      fee,
      payer,
      receiver: built?.receiver ?? null,
      valid_until: validUntil,
      transaction_id: null,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['relayer_id', 'hash']).where('hash', 'is not', null).doNothing(),
    )
    .execute()
  if (of !== undefined)
    await db.deleteFrom('sponsored_quotes').where('id', '=', of).where('hash', 'is', null).execute()
  const before = (ms: number) => new Date(now.getTime() - ms)
  await sql`
    delete from sponsored_quotes where id in (
      select id from sponsored_quotes
      where valid_until < ${before(KEPT_MS)} and (transaction_id is null or valid_until < ${before(USED_KEPT_MS)})
      order by valid_until limit ${MOST_DELETED} for update skip locked)`.execute(db)
}

/** Finds the newest quote for this content that can still be built. */
export async function findQuote(
  db: Db,
  { relayerId, content, now }: Pick<Quote, 'relayerId' | 'content'> & { readonly now: Date },
): Promise<Pick<Quote, 'id' | 'amount' | 'fee' | 'validUntil'> | undefined> {
  const row = await db
    .selectFrom('sponsored_quotes')
    .select(['id', 'amount', 'fee', 'valid_until'])
    .where('relayer_id', '=', relayerId)
    .where('content', '=', content)
    .where('hash', 'is', null)
    .where('valid_until', '>', now)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { id: row.id, amount: row.amount, fee: row.fee, validUntil: row.valid_until }
}

/** Finds the payment in the transaction that was built with this hash. */
export async function findBuild(
  db: Db,
  { relayerId, hash }: { readonly relayerId: string; readonly hash: string },
): Promise<FeePayment | undefined> {
  const row = await db
    .selectFrom('sponsored_quotes')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { id: quoteId, token, amount, payer, receiver, fee, valid_until: validUntil } = row
  return { quoteId, token, amount, payer, receiver: receiver ?? '', fee, validUntil }
}

/**
 * Locks the quotes, which the accounts of a relayer share, until the commit, and returns those that a
 * transaction has used.
 */
export async function findUsedQuotes(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  // The order of locks: database/locks/lock-order.md.
  const rows = await tx
    .selectFrom('sponsored_quotes')
    .select(['id', 'transaction_id'])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Set(rows.flatMap(({ id, transaction_id }) => (transaction_id === null ? [] : [id])))
}

/** Notes which transactions use the quotes. */
export async function useQuotes(
  tx: Tx,
  used: readonly { readonly quoteId: string; readonly transactionId: string }[],
): Promise<void> {
  for (const { quoteId, transactionId } of used) {
    const { numUpdatedRows } = await tx
      .updateTable('sponsored_quotes')
      .set({ transaction_id: transactionId })
      .where('id', '=', quoteId)
      .where('transaction_id', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows !== 1n) throw new Error(`quote ${quoteId} was used by another transaction`)
  }
}

/** What the transactions of a user may still cost the relayer, or have cost it. */
export interface AtRisk {
  /** The chain executed them in vain: their fee was the relayer's, and their payment failed with them. */
  readonly failed: number
  /** They may still fail. */
  readonly open: number
}

/** Counts the transactions since this time of each of the users. A user without any is absent. */
export async function countAtRisk(
  db: Db,
  {
    relayerId,
    payers,
    since,
  }: { readonly relayerId: string; readonly payers: readonly string[]; readonly since: Date },
): Promise<Map<string, AtRisk>> {
  if (payers.length === 0) return new Map()
  const { rows } = await sql<{ payer: string; failed: bigint; open: bigint }>`
    select quotes.payer,
      count(*) filter (where transactions.status = 'failed' and transactions.current_attempt is not null) as failed,
      count(*) filter (where transactions.status in ('pending', 'sent', 'submitted', 'mined')) as open
    from sponsored_quotes quotes join transactions on transactions.id = quotes.transaction_id
    where quotes.relayer_id = ${relayerId} and quotes.payer = any(${payers}::text[]) and quotes.created_at > ${since}
    group by quotes.payer`.execute(db)
  return new Map(
    rows.map(({ payer, failed, open }) => [payer, { failed: Number(failed), open: Number(open) }]),
  )
}
