import { sql } from 'kysely'
import type { Db } from '../database/db.ts'
import type { KvMessage, PluginErrorFields } from './messages.ts'

/**
 * The store of plugins: values with an optional end, and locks. Every row has the id of its plugin, which the
 * service adds, so that no plugin reaches the rows of another one. Times are those of the database, so all
 * processes agree.
 */

/** Existing plugins use letters, digits and `:_-`. */
const KEY = /^[A-Za-z0-9:._-]{1,512}$/
const PATTERN = /^[A-Za-z0-9:._*?-]{0,512}$/
const LOCKING: readonly string[] = ['lock', 'unlock']

/**
 * Bytes of one value, bytes of all values of a plugin, and their number. A full store refuses further values.
 */
const MAX_VALUE = 256 * 1024
const MAX_BYTES = 64 * 1024 * 1024
const MAX_KEYS = 10_000

/**
 * Locks of a plugin at the same time, and the characters of an owner. Locks whose time is over do not count,
 * and are removed.
 */
const MAX_LOCKS = 10_000
const OWNER = /^[A-Za-z0-9-]{1,64}$/

/** Seconds: the standard time of a lock, and the longest of a value or a lock. */
const STANDARD_LOCK = 30
const LONGEST = 315_360_000

/** The result of an operation as JSON text, or the reason of a refusal. */
type KvResult = { readonly value: string } | { readonly error: PluginErrorFields }

/** Executes an operation of a plugin on its store. */
export async function executeKv(db: Db, plugin: string, message: KvMessage): Promise<KvResult> {
  const { operation, key, value = 'null' } = message
  if (operation === 'list' && !PATTERN.test(key))
    return refuse('KV_INVALID_KEY', 'A pattern has up to 512 characters of keys, "*" or "?".')
  if (operation !== 'list' && operation !== 'clear' && !KEY.test(key))
    return refuse('KV_INVALID_KEY', 'A key has 1 to 512 letters, digits, ":", ".", "_" or "-".')
  const ttl = message.ttlSec
  if (ttl !== undefined && !(ttl > 0 && ttl <= LONGEST))
    return refuse('KV_INVALID_TTL', `ttlSec is a number of seconds above 0, at most ${LONGEST}.`)
  if (LOCKING.includes(operation) && !OWNER.test(value))
    return refuse('KV_INVALID_OWNER', 'An owner has 1 to 64 letters, digits or "-".')
  if (value.includes('\0') || !value.isWellFormed()) return refuse('KV_INVALID_VALUE', 'A value is JSON.')
  switch (operation) {
    case 'get':
      return { value: (await read(db, plugin, key)) ?? 'null' }
    case 'exists':
      return json((await read(db, plugin, key)) !== undefined)
    case 'set':
      return set(db, plugin, { key, value, ttl })
    case 'del':
      return json((await remove(db, plugin, key)) > 0)
    case 'clear':
      return json(await remove(db, plugin))
    case 'list':
      return json(await list(db, plugin, key))
    case 'lock':
      return lock(db, plugin, { key, owner: value, ttl })
    case 'unlock':
      return json(await unlock(db, plugin, { key, owner: value }))
  }
}

function json(value: unknown): KvResult {
  return { value: JSON.stringify(value) }
}

function refuse(code: string, message: string): KvResult {
  return { error: { code, message } }
}

const IS_ALIVE = sql<boolean>`(expires_at is null or expires_at > now())`

async function read(db: Db, plugin: string, key: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('plugin_values')
    .select('value')
    .where('plugin_id', '=', plugin)
    .where('key', '=', key)
    .where(IS_ALIVE)
    .executeTakeFirst()
  return row?.value
}

interface NewValue {
  readonly key: string
  /** JSON. */
  readonly value: string
  readonly ttl: number | undefined
}

async function set(db: Db, plugin: string, { key, value, ttl }: NewValue): Promise<KvResult> {
  const bytes = Buffer.byteLength(value)
  if (bytes > MAX_VALUE)
    return refuse('KV_VALUE_TOO_LARGE', `A value has at most ${MAX_VALUE} bytes of JSON.`)
  await db
    .deleteFrom('plugin_values')
    .where('plugin_id', '=', plugin)
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute()
  const { rows } = await sql`
    insert into plugin_values (plugin_id, key, value, bytes, expires_at)
    select ${plugin}, ${key}, ${value}, ${bytes}, now() + make_interval(secs => ${ttl ?? null}::float8)
    from (
      select count(*) as keys, coalesce(sum(bytes), 0) as bytes from plugin_values
      where plugin_id = ${plugin} and key <> ${key}
    ) as others
    where others.keys < ${MAX_KEYS} and others.bytes + ${bytes} <= ${MAX_BYTES}
    on conflict (plugin_id, key) do update
      set value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at
    returning key`.execute(db)
  if (rows.length > 0) return json(true)
  return refuse('KV_FULL', `The store holds at most ${MAX_KEYS} values of ${MAX_BYTES} bytes together.`)
}

async function remove(db: Db, plugin: string, key?: string): Promise<number> {
  const all = db.deleteFrom('plugin_values').where('plugin_id', '=', plugin).where(IS_ALIVE)
  const { numDeletedRows } = await (key === undefined
    ? all
    : all.where('key', '=', key)
  ).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** `*` stands for any characters and `?` for one. */
async function list(db: Db, plugin: string, pattern: string): Promise<string[]> {
  const like = pattern
    .replaceAll(/[%_\\]/g, '\\$&')
    .replaceAll('*', '%')
    .replaceAll('?', '_')
  const rows = await db
    .selectFrom('plugin_values')
    .select('key')
    .where('plugin_id', '=', plugin)
    .where('key', 'like', like)
    .where(IS_ALIVE)
    .orderBy('key')
    .execute()
  return rows.map(({ key }) => key)
}

interface Owned {
  readonly key: string
  readonly owner: string
}

/** Takes a lock, or one whose time is over; false while someone else has it. */
async function lock(
  db: Db,
  plugin: string,
  { key, owner, ttl = STANDARD_LOCK }: Owned & { readonly ttl: number | undefined },
): Promise<KvResult> {
  await db
    .deleteFrom('plugin_locks')
    .where('plugin_id', '=', plugin)
    .where('key', '<>', key)
    .where('expires_at', '<=', sql<Date>`clock_timestamp()`)
    .execute()
  const { rows } = await sql`
    insert into plugin_locks as held (plugin_id, key, owner, expires_at)
    select ${plugin}, ${key}, ${owner}, clock_timestamp() + make_interval(secs => ${ttl}::float8)
    where (select count(*) from plugin_locks where plugin_id = ${plugin} and key <> ${key}) < ${MAX_LOCKS}
    on conflict (plugin_id, key) do update set owner = excluded.owner, expires_at = excluded.expires_at
      where held.expires_at <= clock_timestamp()
    returning key`.execute(db)
  if (rows.length > 0) return json(true)
  const { locks } = await db
    .selectFrom('plugin_locks')
    .select(sql<string>`count(*)`.as('locks'))
    .where('plugin_id', '=', plugin)
    .executeTakeFirstOrThrow()
  return Number(locks) < MAX_LOCKS
    ? json(false)
    : refuse('KV_FULL', `A plugin holds at most ${MAX_LOCKS} locks at the same time.`)
}

async function unlock(db: Db, plugin: string, { key, owner }: Owned): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('plugin_locks')
    .where('plugin_id', '=', plugin)
    .where('key', '=', key)
    .where('owner', '=', owner)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
