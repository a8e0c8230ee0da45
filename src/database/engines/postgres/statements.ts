/**
 * Statements that a PostgreSQL server parses once for each connection, and transactions that begin with their
 * first statement.
 *
 * This is speed code for the server, which bounds several processes (the benchmark's rows of two and of
 * four). It needs 10 % more CPU for a transaction if it parses each statement, and 15 % more if transactions
 * also begin by themselves (medians of three runs with one process, whose rate of sends changes by 8 %). When
 * that is no longer so, send every statement as text and delete this file.
 */
import type { PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { isParsedBefore, isRolledBack, noteAway } from '../../errors.ts'

/** A statement that was sent so often is parsed once. Others would fill the memory of the server. */
const OFTEN = 5

/** A statement on its own that the server rolls back runs this often at most. */
const MAX_RUNS = 5

/**
 * The most statements that are parsed once, about 50 kB for each connection. Those of all steps and of the
 * usual requests fit.
 */
const MAX_STATEMENTS = 200

/** The most texts whose uses are counted. A list of values makes a text for each of its lengths. */
const MAX_COUNTED = 2_000

const NOTHING: Result = { command: 'SELECT', rowCount: 0, rows: [] }

/**
 * The part of a connection that the types of node-postgres omit: the id that the server told at the start
 * (client.js).
 */
type Greeted = pg.PoolClient & { readonly processID: number }

type Result = PostgresQueryResult<unknown>

/** Runs the statements of one use of a connection. */
export type Run = (text: string, parameters: readonly unknown[]) => Promise<Result>

/** Creates what gives `Run` for connections of a pool whose clients have `pipeline: true`. */
export function createStatements(): (client: pg.PoolClient) => Promise<Run> {
  const counts = new Map<string, number>()
  const names = new Map<string, string>()
  const direct = new WeakMap<pg.PoolClient, boolean>()
  let generation = 0

  function nameOf(text: string): string | undefined {
    const name = names.get(text)
    if (name !== undefined) return name
    if (names.size >= MAX_STATEMENTS) return undefined
    const count = (counts.get(text) ?? 0) + 1
    if (counts.size >= MAX_COUNTED) counts.clear()
    counts.set(text, count)
    if (count >= OFTEN) names.set(text, `s${generation}_${names.size}`)
    return names.get(text)
  }

  /**
   * A pooler such as PgBouncer gives each transaction another session, in which nothing was parsed. It tells
   * an id of its own.
   */
  async function isDirect(client: pg.PoolClient): Promise<boolean> {
    const known = direct.get(client)
    if (known !== undefined) return known
    const { rows } = await client.query<[number]>({ text: 'select pg_backend_pid()', rowMode: 'array' })
    const answer = rows[0]?.[0] === (client as Greeted).processID
    direct.set(client, answer)
    return answer
  }

  /** New names make every connection parse all statements again. */
  function forget(): void {
    generation += 1
    names.clear()
    counts.clear()
  }

  async function send(client: pg.PoolClient, { text, parameters }: Statement): Promise<Result> {
    try {
      return await query(client, {
        text,
        parameters,
        name: parameters.length === 0 ? undefined : nameOf(text),
      })
    } catch (error) {
      if (isParsedBefore(error)) forget()
      throw error
    }
  }

  return async (client) => {
    const isParsing = await isDirect(client)
    /** `announced`: it begins with the next statement. */
    let transaction: 'none' | 'announced' | 'begun' = 'none'
    return async (text, parameters) => {
      const before = transaction
      if (text === 'begin' && isParsing) {
        transaction = 'announced'
        return NOTHING
      }
      // With an isolation level or an access mode it is another text.
      if (text === 'begin' || text.startsWith('start transaction')) {
        transaction = 'begun'
        return query(client, { text, parameters })
      }
      if (text === 'commit' || text === 'rollback') {
        transaction = 'none'
        return before === 'announced' ? NOTHING : query(client, { text, parameters })
      }
      const statement = { text, parameters }
      const run = () => (isParsing ? send(client, statement) : query(client, statement))
      if (before === 'none') return repeatRolledBack(run)
      // A transaction has failed with its statement, so `transact` repeats it.
      if (before === 'begun') return run()
      transaction = 'begun'
      const { stream } = client.connection
      stream.cork()
      const begun = client.query('begin')
      const result = send(client, statement)
      stream.uncork()
      // The result would be that of a statement on its own, if the transaction had not begun.
      await Promise.all([begun, result])
      return result
    }
  }
}

interface Statement {
  readonly text: string
  readonly parameters: readonly unknown[]
}

/**
 * Runs a statement on its own again while the server rolls it back for another transaction: nothing of it is
 * stored then.
 */
async function repeatRolledBack(run: () => Promise<Result>): Promise<Result> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run()
    } catch (error) {
      if (!isRolledBack(error)) throw error
      if (runs < MAX_RUNS) continue
      noteAway(error)
      throw error
    }
  }
}

/** The types of Kysely name fewer commands than there are. */
function query(
  client: pg.PoolClient,
  { name, text, parameters }: Pick<Statement, 'text' | 'parameters'> & { readonly name?: string | undefined },
): Promise<Result> {
  const statement = { ...(name !== undefined && { name }), text, values: [...parameters] }
  return client.query(statement) as Promise<unknown> as Promise<Result>
}
