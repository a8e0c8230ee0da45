import { serialize } from 'pg-protocol'
import { type BackendMessage, type Field, ParameterDescriptionMessage } from 'pg-protocol/dist/messages.js'
import { joinBytes } from './join-bytes.ts'
import { columnsIn, readResult, type StatementResult, type ValueParsers } from './read-answers.ts'

type Serializers = Readonly<Record<number | string, (value: unknown) => string>>

/** The part of the engine that runs statements. Its caller has the engine for itself until the promise resolves. */
export interface StatementRunner {
  readonly parsers: ValueParsers
  readonly serializers: Serializers
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
 * The longest use of a parsed statement, in ms. The engine keeps its plan as well, and the plan for a small table would read all of a table
 * that has grown meanwhile. A shorter time parses more often than it saves.
 */
const MAX_AGE_MS = 10_000

/** A statement that the engine has parsed. */
interface Prepared {
  readonly name: string
  /** The time in ms when it was parsed. */
  readonly since: number
  readonly parameterTypes: readonly number[]
  /** The columns of its rows; none where the statement returns no rows. */
  readonly columns: readonly Field[]
}

/**
 * Statements that are sent as text. After a commit that cannot write the log, the engine would wait for ever for a lock that it holds itself,
 * when it reads the message that ends a parsed statement (`Sync`).
 */
const SENT_AS_TEXT: ReadonlySet<string> = new Set(['begin', 'commit', 'rollback'])

/** The commands that change what a parsed statement means, or which columns `*` has. */
const DEFINITIONS: ReadonlySet<string> = new Set(['ALTER', 'CREATE', 'DO', 'DROP'])

/**
 * Runs statements, each of which the engine parses once: it spends more time on the text of a small statement than on its execution. A
 * known statement takes one call of the engine instead of six.
 */
export function createStatements({ parsers, serializers, send }: StatementRunner): RunStatement {
  // A Map keeps the order of insertion, so its first entry is the one that was used least recently.
  const prepared = new Map<string, Prepared>()
  let created = 0

  async function prepare(text: string, name: string): Promise<Prepared> {
    const answers = await send(
      joinBytes([serialize.parse({ name, text }), serialize.describe({ type: 'S', name }), serialize.sync()]),
    )
    return {
      name,
      since: performance.now(),
      parameterTypes:
        answers.find((answer) => answer instanceof ParameterDescriptionMessage)?.dataTypeIDs ?? [],
      columns: columnsIn(answers),
    }
  }

  async function find(text: string, count: number): Promise<Prepared> {
    if (count > MAX_PARAMETERS) return prepare(text, '')
    let statement = prepared.get(text)
    if (statement !== undefined && performance.now() - statement.since > MAX_AGE_MS) {
      await forget(text, statement)
      statement = undefined
    }
    if (statement === undefined) {
      created += 1
      statement = await prepare(text, `s${created}`)
    }
    prepared.delete(text)
    prepared.set(text, statement)
    const [oldest] = prepared
    if (oldest && prepared.size > MAX_STATEMENTS) await forget(...oldest)
    return statement
  }

  async function forget(text: string, { name }: Prepared): Promise<void> {
    prepared.delete(text)
    await send(joinBytes([serialize.close({ type: 'S', name }), serialize.sync()]))
  }

  return async (text, parameters) => {
    if (SENT_AS_TEXT.has(text)) {
      return readResult(await send(joinBytes([serialize.query(text)])), [], parsers)
    }
    const { name, parameterTypes, columns } = await find(text, parameters.length)
    const values = parameters.map((value, index) => textOf(value, serializers[parameterTypes[index] ?? 0]))
    const answers = await send(
      joinBytes([serialize.bind({ statement: name, values }), serialize.execute(), serialize.sync()]),
    )
    const result = readResult(answers, columns, parsers)
    if (DEFINITIONS.has(result.command)) for (const entry of [...prepared]) await forget(...entry)
    return result
  }
}

function textOf(value: unknown, serializer: ((value: unknown) => string) | undefined): string | null {
  if (value === null || value === undefined) return null
  return serializer ? serializer(value) : String(value)
}
