import { sql } from 'kysely'
import { personId } from '../access/principal.ts'
import type { RoleName } from '../access/role.ts'
import type { Person } from '../audit/entry.ts'
import type { Db, Tx } from '../database/db.ts'
import { storableText } from '../database/sql-helpers.ts'
import { omitUndefined } from '../lib/object.ts'

/** The channel on which the database announces sessions that begin or end. */
export const SESSIONS_CHANNEL = 'sessions_changed'

/** One sign-in of a person, until its end. */
export interface Session {
  readonly id: string
  readonly person: Person
  readonly roles: readonly RoleName[]
  readonly address?: string | undefined
  readonly userAgent?: string | undefined
  readonly createdAt: Date
  /** Up to a minute late. */
  readonly lastUsedAt: Date
  readonly expiresAt: Date
}

/** A session with the hash of its secret, in hex digits. */
export interface StoredSession extends Session {
  readonly hash: string
}

/** Reads the number of the newest change. */
export async function readSessionVersion(db: Db): Promise<bigint> {
  const { version } = await db.selectFrom('session_changes').select('version').executeTakeFirstOrThrow()
  return version
}

/** Reads the sessions of one provider. The version is at most as new as they are. */
export async function readSessions(
  db: Db,
  issuer: string,
): Promise<{ readonly version: bigint; readonly sessions: readonly StoredSession[] }> {
  const version = await readSessionVersion(db)
  const rows = await sessionsOf(db, issuer).execute()
  return { version, sessions: rows.map((row) => ({ ...toSession(row), hash: hexOf(row.hash) })) }
}

interface ListQuery {
  readonly issuer: string
  /** Those that were used at or before this time have ended. */
  readonly idleSince: Date
  readonly now: Date
  readonly offset: number
  readonly limit: number
}

/** Lists the sessions that have not ended, newest first. `total` counts all of them. */
export async function listSessions(
  db: Db,
  { issuer, idleSince, now, offset, limit }: ListQuery,
): Promise<{ items: Session[]; total: number }> {
  const live = sessionsOf(db, issuer)
    .where('sessions.expires_at', '>', now)
    .where('sessions.last_used_at', '>', idleSince)
  const { total } = await live
    .clearSelect()
    .select((eb) => eb.fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await live
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.id')
    .offset(offset)
    .limit(limit)
    .execute()
  return { items: rows.map(toSession), total: Number(total) }
}

/** Finds a session; undefined also for one that was ended. */
export async function findSession(db: Db, issuer: string, id: string): Promise<Session | undefined> {
  const row = await sessionsOf(db, issuer).where('sessions.id', '=', id).executeTakeFirst()
  return row && toSession(row)
}

/**
 * Stores a session, and its person as the provider named them now. The oldest sessions of the person end if
 * there would be more than `most`.
 */
export async function insertSession(tx: Tx, session: StoredSession, most: number): Promise<void> {
  const { person } = session
  const id = personId(person)
  const names = {
    name: person.name === undefined ? null : storableText(person.name),
    email: person.email === undefined ? null : storableText(person.email),
  }
  // The row also makes sign-ins of one person wait for each other, so that they are counted.
  await tx
    .insertInto('people')
    .values({ id, issuer: person.issuer, subject: person.subject, ...names })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(names))
    .execute()
  await sql`
    delete from sessions where id in (
      select id from sessions where person_id = ${id} order by created_at desc, id offset ${most - 1})`.execute(
    tx,
  )
  await tx
    .insertInto('sessions')
    .values({
      id: session.id,
      hash: Buffer.from(session.hash, 'hex'),
      person_id: id,
      roles: JSON.stringify(session.roles),
      address: session.address ?? null,
      user_agent: session.userAgent === undefined ? null : storableText(session.userAgent),
      created_at: session.createdAt,
      last_used_at: session.lastUsedAt,
      expires_at: session.expiresAt,
    })
    .execute()
}

/** Ends a session; false if it has already ended. */
export async function deleteSession(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('sessions').where('id', '=', id).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Deletes the sessions whose time is over, or that were last used at or before `idleSince`. */
export async function deleteOverSessions(
  db: Db,
  { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
): Promise<void> {
  await sql`
    delete from sessions where id in (
      select id from sessions where expires_at <= ${now} or last_used_at <= ${idleSince}
      order by id for update skip locked)`.execute(db)
}

/** Stores the last uses, and returns those of all sessions, which other processes know as well. */
export async function exchangeUses(db: Db, uses: ReadonlyMap<string, Date>): Promise<Map<string, Date>> {
  // The order of locks: database/locks/lock-order.md.
  if (uses.size > 0)
    await sql`
      with used as materialized (
        select sessions.id, used.at
        from sessions join unnest(${[...uses.keys()]}::text[], ${[...uses.values()]}::timestamptz[]) as used (id, at)
          using (id)
        order by sessions.id for no key update of sessions)
      update sessions set last_used_at = greatest(last_used_at, used.at) from used where sessions.id = used.id`.execute(
      db,
    )
  const rows = await db.selectFrom('sessions').select(['id', 'last_used_at']).execute()
  return new Map(rows.map((row) => [row.id, row.last_used_at]))
}

function sessionsOf(db: Db, issuer: string) {
  return db
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .selectAll('sessions')
    .select(['people.issuer', 'people.subject', 'people.name', 'people.email'])
    .where('people.issuer', '=', issuer)
}

type SessionRow = Awaited<ReturnType<ReturnType<typeof sessionsOf>['executeTakeFirstOrThrow']>>

function toSession(row: SessionRow): Session {
  const { issuer, subject, name, email } = row
  return omitUndefined({
    id: row.id,
    person: omitUndefined({ issuer, subject, name: name ?? undefined, email: email ?? undefined }),
    // The service wrote them itself.
    roles: row.roles as RoleName[],
    address: row.address ?? undefined,
    userAgent: row.user_agent ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  })
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
