import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { systemClock } from '../../../lib/time.ts'
import type { Logger } from '../../../log.ts'
import type { Database, Db, Schema } from '../../db.ts'
import { isAway, isReadOnly, noteAway, waitForServer } from '../../errors.ts'
import { type QueryObserver, reportQueries } from '../../query-observer.ts'
import { VALUE_TYPES } from '../value-types.ts'
import { createListener } from './postgres-listener.ts'
import { chooseServers, type Servers } from './postgres-servers.ts'
import { createStatements } from './statements.ts'

/** The number of connections of this process, without the one that listens. PostgreSQL allows 100 in all by default. */
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

/** Opens a PostgreSQL server, version 15 or later. The promise rejects when the server cannot be reached in time. */
export async function openPostgres(
  { url, directUrl = url, observer, ...wait }: PostgresOptions,
  log: Logger,
): Promise<Database> {
  const settings: pg.ClientConfig = {
    application_name: 'relayer',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  }
  const servers = chooseServers(url)
  const pool = createPool(settings, servers)
  // Without this handler, a lost idle connection would end the process. The pool replaces the connection itself.
  pool.on('error', (error) => log.warn({ err: error }, 'database connection lost while idle'))

  const connections = leavingReadOnly(pool, servers)
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: connections }),
    ...reportQueries(observer),
  })
  const listener = createListener({
    settings,
    servers: directUrl === url ? servers : chooseServers(directUrl),
    log,
    clock: systemClock,
  })
  try {
    await waitForServer(() => firstContact(connections), { ...wait, log })
  } catch (error) {
    await pool.end()
    throw error
  }
  let closing: Promise<void> | undefined
  return {
    engine: 'postgres',
    db,
    requests: db,
    listen: listener.listen,
    close() {
      closing ??= listener.close().finally(() => endPool(db, pool))
      return closing
    },
  }
}

/** The types name a constructor without parameters; the pool calls it with its own settings (pg-pool, index.js). */
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

/**
 * Closes connections to a server that only reads instead of using them again: after a fail-over the address leads to another server, while
 * connections to the demoted one would stay open and fail for minutes. Notes every error that says that the server is away.
 */
function leavingReadOnly(pool: pg.Pool, servers: Servers): PostgresPool {
  const statementsOf = createStatements()
  return {
    connect: async () => {
      const client = await servers
        .use(() => pool.connect())
        .catch((error) => {
          noteAway(error)
          throw error
        })
      const run = await statementsOf(client).catch((error) => {
        client.release(true)
        noteAway(error)
        throw error
      })
      let reads = false
      const query = async (...args: [string, readonly unknown[]]) => {
        try {
          return await run(...args)
        } catch (error) {
          reads ||= isReadOnly(error)
          if (isAway(error)) noteAway(error)
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

async function endPool(db: Db, pool: pg.Pool): Promise<void> {
  await db.destroy()
  // Kysely ends the pool only if it ran a query.
  if (!pool.ending) await pool.end()
}
