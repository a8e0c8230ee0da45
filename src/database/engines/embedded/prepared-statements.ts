/**
 * Statements that the embedded database parses once. PGlite's own `query` parses each one each time and calls
 * the engine six times for it.
 *
 * This is speed code: it moves the benchmark's row "send: from the request to the node, light load, p50",
 * which is 24 ms without it and 17 ms with it (medians of three runs); the CPU of a transaction under full
 * load changes by 7 %. When that row no longer changes, send `parse` with each statement and delete the map.
 */
import utils from 'pg/lib/utils.js'
import { serialize } from 'pg-protocol'
import {
  type BackendMessage,
  CommandCompleteMessage,
  DataRowMessage,
  RowDescriptionMessage,
} from 'pg-protocol/dist/messages.js'
import { typeParser } from '../value-types.ts'
import { joinBytes } from './engine-messages.ts'

/** The result of a statement. */
export interface StatementResult {
  /**
   * The first word of the command that was completed, e.g. `SELECT`, or `ROLLBACK` for a commit that was
   * none.
   */
  readonly command: string
  /** The number of rows that the command read or wrote; 0 for other commands. */
  readonly rowCount: number
  readonly rows: readonly object[]
}

/**
 * The engine keeps a parsed statement in its memory, about 50 kB each. The statements of all steps and of the
 * usual requests fit.
 */
const MAX_STATEMENTS = 200

/**
 * A list of values makes a statement for each of its lengths. Long lists seldom have the same length again,
 * so they are not kept.
 */
const MAX_PARAMETERS = 32

/**
 * The engine keeps plans, including those that check foreign keys, and a plan for a small table reads all of
 * a table that has since grown. They are discarded when the statements have carried twice as many bytes as
 * the last time, plus this many: about 200 transactions.
 */
const GROWTH_BYTES = 262_144

/**
 * Statements that are sent as text. After a commit that cannot write the log, the engine would wait for ever
 * for a lock that it holds itself, when it reads the message that ends a parsed statement (`Sync`).
 */
const SENT_AS_TEXT: ReadonlySet<string> = new Set(['begin', 'commit', 'rollback'])

/** The commands that change what a parsed statement means, or which columns `*` has. */
const DEFINITIONS: ReadonlySet<string> = new Set(['ALTER', 'CREATE', 'DO', 'DROP'])

/** A column of a result, and what reads the text form of its values. */
interface ColumnReader {
  readonly name: string
  readonly read: (text: string) => unknown
}

/** A statement that the engine has parsed, or parses next. Its columns are known after its first result. */
interface Prepared {
  readonly name: string
  columns?: readonly ColumnReader[]
}

/**
 * Creates what runs statements. `send` takes messages of PostgreSQL's protocol and throws the error among the
 * answers.
 */
export function createStatements(
  send: (message: Uint8Array) => Promise<BackendMessage[]>,
): (text: string, parameters: readonly unknown[]) => Promise<StatementResult> {
  // A Map keeps the order of insertion, so its first entry is the one that was used least recently.
  const prepared = new Map<string, Prepared>()
  /** Messages that go before the next statement: they close statements. */
  let closing: Buffer[] = []
  let created = 0
  let carried = 0
  let carriedAtDiscard = 0

  function exchange(messages: readonly Buffer[]): Promise<BackendMessage[]> {
    const whole = joinBytes([...closing, ...messages])
    closing = []
    carried += whole.length
    return send(whole)
  }

  /** The steps of transactions, which make the tables grow, begin a database transaction. */
  function discardingPlans(text: string): Buffer[] {
    if (text !== 'begin' || carried <= 2 * carriedAtDiscard + GROWTH_BYTES) return []
    carriedAtDiscard = carried
    return [serialize.query('discard plans')]
  }

  function forget(text: string): void {
    const { name } = prepared.get(text) ?? {}
    if (name !== undefined) closing.push(serialize.close({ type: 'S', name }))
    prepared.delete(text)
  }

  /** Marks the statement as used. A new one takes the place of the one that was used least recently. */
  function prepare(text: string): { readonly statement: Prepared; readonly parse: Buffer[] } {
    const known = prepared.get(text)
    prepared.delete(text)
    const [oldest] = known === undefined && prepared.size >= MAX_STATEMENTS ? prepared.keys() : []
    if (oldest !== undefined) forget(oldest)
    const statement = known ?? { name: `s${++created}` }
    prepared.set(text, statement)
    return { statement, parse: known ? [] : [serialize.parse({ name: statement.name, text })] }
  }

  return async (text, parameters) => {
    if (SENT_AS_TEXT.has(text))
      return readResult(await exchange([...discardingPlans(text), serialize.query(text)]), [])
    const isKept = parameters.length <= MAX_PARAMETERS
    const { statement, parse } = isKept
      ? prepare(text)
      : { statement: { name: '' } as Prepared, parse: [serialize.parse({ text })] }
    const isNew = statement.columns === undefined
    const answers = await exchange([
      ...parse,
      serialize.bind({
        statement: statement.name,
        values: parameters.map((value) => utils.prepareValue(value)),
      }),
      ...(isNew ? [serialize.describe({ type: 'P' })] : []),
      serialize.execute(),
      serialize.sync(),
    ]).catch((error: unknown) => {
      // The engine may have parsed it before it failed.
      if (isNew && isKept) forget(text)
      throw error
    })
    statement.columns ??= columnsIn(answers)
    const result = readResult(answers, statement.columns)
    if (DEFINITIONS.has(result.command)) for (const kept of [...prepared.keys()]) forget(kept)
    return result
  }
}

/** Returns the columns that the messages describe; none for a statement that returns no rows. */
function columnsIn(messages: readonly BackendMessage[]): readonly ColumnReader[] {
  const description = messages.find((message) => message instanceof RowDescriptionMessage)
  return (description?.fields ?? []).map(({ name, dataTypeID }) => ({ name, read: typeParser(dataTypeID) }))
}

function readResult(messages: readonly BackendMessage[], columns: readonly ColumnReader[]): StatementResult {
  // After `discard plans`, the last command is the requested one.
  const completed = messages.findLast((message) => message instanceof CommandCompleteMessage)
  const words = completed?.text.split(' ') ?? []
  return {
    command: words[0] ?? '',
    rowCount: Number(/^\d+$/.exec(words.at(-1) ?? '')?.[0] ?? 0),
    rows: readRows(messages, columns),
  }
}

function readRows(messages: readonly BackendMessage[], columns: readonly ColumnReader[]): object[] {
  // With all its names at once, a row is created in one piece; otherwise it is created again for every few of
  // them.
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(columns.map(({ name }) => [name, null]))
  const rows: object[] = []
  for (const message of messages) {
    if (!(message instanceof DataRowMessage)) continue
    const row = { ...empty }
    columns.forEach(({ name, read }, index) => {
      const text: string | null = message.fields[index]
      if (text !== null) row[name] = read(text)
    })
    rows.push(row)
  }
  return rows
}
