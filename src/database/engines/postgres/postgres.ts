import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { systemClock } from '../../../lib/time.ts'
import type { Logger } from '../../../log.ts'
import type { Database, Db, Schema } from '../../db.ts'
import { isAway, isReadOnly, noteAway, waitForServer } from '../../errors.ts'
import { type QueryObserver, reportQueries } from '../../query-observer.ts'
import { VALUE_TYPES } from '../value-types.ts'
import { createOutageLog, type OutageLog } from './outage-log.ts'
import { createListener } from './postgres-listener.ts'
import { chooseServers, type Servers } from './postgres-servers.ts'
import { createStatements } from './statements.ts'

/**
 * The number of connections of this process, without the one that listens. PostgreSQL allows 100 in all by
 * default.
 */
const POOL_SIZE = 10

/** Time in ms that a query waits for a free connection before it fails. */
const CONNECT_TIMEOUT_MS = 10_000

interface PostgresOptions {
  /** With one or several hosts. */
  readonly url: string
  /** Leads to the same database without a pooler, which loses notifications. Default: `url`. */
  readonly directUrl?: string | undefined
  /** The time in ms for which a server that cannot be reached is awaited. */
  readonly waitMs: number
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** Receives a report of each statement. */
  readonly observer?: QueryObserver | undefined
}

/**
 * Opens a PostgreSQL server, version 15 or later. The promise rejects when the server cannot be reached in
 * time.
 */
export async function openPostgres(
  { url, directUrl = url, observer, ...wait }: PostgresOptions,
  log: Logger,
): Promise<Database> {
  const settings: pg.ClientConfig = {
    application_name: 'relayer',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  }
  const servers = chooseServers(url, { log })
  const pool = createPool(settings, servers)
  const outages: OutageLog = createOutageLog({
    log,
    clock: systemClock,
    host: servers.current,
    check: () => assertWritable(pool, servers),
  })
  // Without this handler, a lost idle connection would end the process. The pool replaces the connection
  // itself.
  pool.on('error', outages.lost)

  const connections = leavingReadOnly(pool, servers, outages)
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: connections }),
    ...reportQueries(observer),
  })
  const listener = createListener({
    settings,
    servers: directUrl === url ? servers : chooseServers(directUrl, { log }),
    log,
    clock: systemClock,
  })
  try {
    await servers.findNewest()
    await waitForServer(() => firstContact(connections), {
      ...wait,
      log,
      what: 'a connection',
      blockedBy: servers.blockedBy,
    })
  } catch (error) {
    await endPool(db, { pool, servers })
    throw error
  }
  outages.watch()
  let closing: Promise<void> | undefined
  return {
    engine: 'postgres',
    db,
    listen: listener.listen,
    blockedBy: servers.blockedBy,
    close() {
      outages.close()
      closing ??= listener.close().finally(() => endPool(db, { pool, servers }))
      return closing
    },
  }
}

/**
 * The types name a constructor without parameters; the pool calls it with its own settings (pg-pool,
 * index.js).
 */
function createPool(settings: pg.ClientConfig, { Client }: Servers): pg.Pool {
  const own = { ...settings, max: POOL_SIZE, types: VALUE_TYPES, pipeline: true }
  return new pg.Pool({ ...own, Client: Client as new () => pg.ClientBase })
}

async function firstContact(connections: PostgresPool): Promise<void> {
  const client = await connections.connect()
  try {
    await client.query('select 1', [])
  } finally {
    client.release()
  }
}

/** The beginnings of statements that store nothing on their own. */
const READS = /^\s*(select|show|rollback)\b/i

/** The beginnings of statements after which nothing is stored until the commit. */
const BEGINS = /^(begin|start transaction)\b/

/** Rejects when no server can be reached, or the one that is reached takes no writes. */
async function assertWritable(pool: pg.Pool, servers: Servers): Promise<void> {
  const client = await servers.use(() => pool.connect())
  let isUsable = false
  try {
    const { rows } = await client.query<[string]>({ text: 'show transaction_read_only', rowMode: 'array' })
    isUsable = rows[0]?.[0] === 'off'
  } finally {
    client.release(!isUsable)
  }
  if (!isUsable) throw new Error('The database takes no writes.')
}

/**
 * Closes connections to a server that only reads instead of using them again: after a fail-over the address
 * leads to another server, while connections to the demoted one would stay open and fail for minutes. Notes
 * every error that says that the server is away.
 */
function leavingReadOnly(pool: pg.Pool, servers: Servers, outages: OutageLog): PostgresPool {
  const statementsOf = createStatements()
  const note = (error: unknown) => {
    noteAway(error)
    outages.lost(error)
  }
  return {
    connect: async () => {
      const client = await servers
        .use(() => pool.connect())
        .catch((error) => {
          note(error)
          throw error
        })
      const run = await statementsOf(client).catch((error) => {
        client.release(true)
        note(error)
        throw error
      })
      let reads = false
      let inTransaction = false
      const query = async (text: string, parameters: readonly unknown[]) => {
        const begun = systemClock.monotonic()
        if (BEGINS.test(text)) inTransaction = true
        if (text === 'commit' || text === 'rollback') inTransaction = false
        try {
          const result = await run(text, parameters)
          // Locks of a transaction would last until the look is over.
          if (!inTransaction && !READS.test(text))
            await servers.assertKept(client, systemClock.monotonic() - begun)
          return result
        } catch (error) {
          reads ||= isReadOnly(error)
          if (isAway(error)) note(error)
          throw error
        }
      }
      const release = (isDiscarded = false) => client.release(isDiscarded || reads)
      return { query, release } as PostgresPoolClient
    },
    end: () => pool.end(),
    options: pool.options,
  }
}

/**
 * The longest time in ms for which a close waits for running statements. A commit that waits for a standby
 * would otherwise keep the process from its end for ever.
 */
const CLOSE_MS = 5_000

async function endPool(
  db: Db,
  { pool, servers }: { readonly pool: pg.Pool; readonly servers: Servers },
): Promise<void> {
  const late = setTimeout(servers.destroy, CLOSE_MS)
  try {
    await db.destroy()
    // Kysely ends the pool only if it ran a query.
    if (!pool.ending) await pool.end()
  } finally {
    clearTimeout(late)
  }
}
