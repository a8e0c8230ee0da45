import { serialize } from 'pg-protocol'
import type { BackendMessage } from 'pg-protocol/dist/messages.js'
import { joinBytes } from './join-bytes.ts'
import { type ColumnReader, columnsIn, readResult, type StatementResult } from './read-answers.ts'

/** The part of the engine that runs statements. Its caller has the engine for itself until the promise resolves. */
export interface StatementRunner {
  /** Gives the form of a parameter: text, or the bytes of a `bytea`; null for no value. */
  readonly writeValue: (value: unknown) => string | Buffer | null
  /** Sends messages of PostgreSQL's protocol, whose memory it keeps, and throws the error among the answers. */
  send(message: Uint8Array): Promise<BackendMessage[]>
}

/** Runs one statement. */
export type RunStatement = (text: string, parameters: readonly unknown[]) => Promise<StatementResult>

/** The engine keeps a parsed statement in its memory, about 50 kB each. The statements of all steps and of the usual requests find room. */
const MAX_STATEMENTS = 200

/** A list of values makes a statement for each of its lengths. Long lists seldom have the same length again. */
const MAX_PARAMETERS = 32

/**
 * The engine keeps its plans, and the plan for a small table would read all of a table that has grown meanwhile. So it forgets them when all
 * statements together have carried twice as many bytes to the engine as at the last time, and so many more: about 200 transactions. With
 * fewer, planning takes more time than it saves.
 */
const GROWTH_BYTES = 262_144

/** A statement that the engine has parsed. */
interface Prepared {
  readonly name: string
  /** The columns of its rows; none where the statement returns no rows. */
  readonly columns: readonly ColumnReader[]
}

/** Runs what is bound, and asks for its columns. */
const DESCRIBED = [serialize.describe({ type: 'P' }), serialize.execute(), serialize.sync()]

/** The name of the statement that the engine forgets when it parses the next one. */
const UNNAMED = ''

/**
 * Statements that are sent as text. After a commit that cannot write the log, the engine would wait for ever for a lock that it holds itself,
 * when it reads the message that ends a parsed statement (`Sync`).
 */
const SENT_AS_TEXT: ReadonlySet<string> = new Set(['commit', 'rollback'])

/** Makes the engine forget the plans of all statements, and those by which it checks foreign keys. What is parsed stays parsed. */
const FORGET_PLANS = 'discard plans'

/** The beginning of a transaction, which fails for no reason of its own. */
const BEGIN: StatementResult = { command: 'BEGIN', rowCount: 0, rows: [] }

/** The commands that change what a parsed statement means, or which columns `*` has. */
const DEFINITIONS: ReadonlySet<string> = new Set(['ALTER', 'CREATE', 'DO', 'DROP'])

/**
 * Runs statements, each of which the engine parses once: it spends more time on the text of a small statement than on its execution. Every
 * statement takes one call of the engine, the first one, too; `begin` takes none, because it goes with the statement that follows it.
 */
export function createStatements({ writeValue, send }: StatementRunner): RunStatement {
  let begin: readonly Buffer[] = []
  // A Map keeps the order of insertion, so its first entry is the one that was used least recently.
  const prepared = new Map<string, Prepared>()
  /** The names of the statements whose first call has no answer yet, by text. */
  const parsing = new Map<string, string>()
  let created = 0
  /** The bytes that all statements have carried to the engine, and those of them when it forgot its plans: a measure for the tables. */
  let carried = 0
  let carriedThen = 0

  /** The messages that begin a transaction. The steps of transactions, which make the tables grow, begin one. */
  function beginning(): Buffer[] {
    if (carried <= 2 * carriedThen + GROWTH_BYTES) return [serialize.query('begin')]
    carriedThen = carried
    return [serialize.query(FORGET_PLANS), serialize.query('begin')]
  }

  function exchange(...messages: readonly Buffer[]): Promise<BackendMessage[]> {
    const whole = joinBytes([...begin, ...messages])
    begin = []
    carried += whole.length
    return send(whole)
  }

  async function runKnown(known: Prepared, parameters: readonly unknown[]): Promise<StatementResult> {
    const answers = await exchange(bind(known.name, parameters), serialize.execute(), serialize.sync())
    return readResult(answers, known.columns)
  }

  /** Parses the statement and runs it in the same call. What the engine shall forget is closed before. */
  async function runNew(text: string, parameters: readonly unknown[]): Promise<StatementResult> {
    const name = parameters.length > MAX_PARAMETERS ? UNNAMED : `s${++created}`
    const parsed = [serialize.parse({ name, text }), bind(name, parameters)]
    const closed = name === UNNAMED ? [] : makeRoom(text)
    if (name !== UNNAMED) parsing.set(text, name)
    const answers = await exchange(...closed, ...parsed, ...DESCRIBED).catch(async (error: unknown) => {
      parsing.delete(text)
      // The engine may have parsed it before it failed. The first error is the one that says why.
      await close([name]).catch(() => {})
      throw error
    })
    const columns = columnsIn(answers)
    if (parsing.delete(text)) prepared.set(text, { name, columns })
    return readResult(answers, columns)
  }

  /** Runs a statement that an earlier call, whose answer is not here yet, parses: the engine reads that call first. */
  async function runParsing(name: string, parameters: readonly unknown[]): Promise<StatementResult> {
    const answers = await exchange(bind(name, parameters), ...DESCRIBED)
    return readResult(answers, columnsIn(answers))
  }

  /** Forgets an older form of the statement, and the one that was used least recently when there are too many. */
  function makeRoom(text: string): Buffer[] {
    const [oldest = text] = prepared.size < MAX_STATEMENTS ? [] : prepared.keys()
    return [text, oldest].flatMap((forgotten) => {
      const { name } = prepared.get(forgotten) ?? {}
      prepared.delete(forgotten)
      return name === undefined ? [] : [serialize.close({ type: 'S', name })]
    })
  }

  async function close(names: readonly string[]): Promise<void> {
    await exchange(...names.map((name) => serialize.close({ type: 'S', name })), serialize.sync())
  }

  async function forgetAll(): Promise<void> {
    const names = [...prepared.values()].map(({ name }) => name)
    prepared.clear()
    await close(names)
  }

  function bind(statement: string, parameters: readonly unknown[]): Buffer {
    return serialize.bind({ statement, values: parameters.map((value) => writeValue(value)) })
  }

  function run(text: string, parameters: readonly unknown[]): Promise<StatementResult> {
    const known = findKnown(text)
    if (known !== undefined) return runKnown(known, parameters)
    const name = parsing.get(text)
    return name === undefined ? runNew(text, parameters) : runParsing(name, parameters)
  }

  /** Finds a statement that is parsed, and marks it as used. */
  function findKnown(text: string): Prepared | undefined {
    const known = prepared.get(text)
    if (known === undefined) return undefined
    prepared.delete(text)
    prepared.set(text, known)
    return known
  }

  return async (text, parameters) => {
    if (text === 'begin') {
      begin = beginning()
      return BEGIN
    }
    if (SENT_AS_TEXT.has(text)) return readResult(await exchange(serialize.query(text)), [])
    const result = await run(text, parameters)
    if (DEFINITIONS.has(result.command)) await forgetAll()
    return result
  }
}
