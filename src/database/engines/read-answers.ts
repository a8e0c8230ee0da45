import {
  type BackendMessage,
  CommandCompleteMessage,
  DataRowMessage,
  RowDescriptionMessage,
} from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'
import { typeParser } from './type-parsers.ts'

/** A column of a result, and what reads the text form of its values. */
export interface ColumnReader {
  readonly name: string
  readonly read: (text: string) => unknown
}

/** The result of a statement. */
export interface StatementResult {
  /** The first word of the command that was completed, e.g. `SELECT`, or `ROLLBACK` for a commit that was none. */
  readonly command: string
  /** The number of rows that the command read or wrote; 0 for other commands. */
  readonly rowCount: number
  readonly rows: readonly object[]
}

/** Reads messages of PostgreSQL's protocol. */
export function readMessages(bytes: Uint8Array): BackendMessage[] {
  const read: BackendMessage[] = []
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  new Parser().parse(buffer, (message) => void read.push(message))
  return read
}

/** Returns the columns that the messages describe; none for a statement that returns no rows. */
export function columnsIn(messages: readonly BackendMessage[]): readonly ColumnReader[] {
  const description = messages.find((message) => message instanceof RowDescriptionMessage)
  return (description?.fields ?? []).map(({ name, dataTypeID }) => ({ name, read: typeParser(dataTypeID) }))
}

/** Reads the result of the last statement, whose rows have these columns. */
export function readResult(
  messages: readonly BackendMessage[],
  columns: readonly ColumnReader[],
): StatementResult {
  const completed = messages.findLast((message) => message instanceof CommandCompleteMessage)
  const words = completed?.text.split(' ') ?? []
  return {
    command: words[0] ?? '',
    rowCount: Number(/^\d+$/.exec(words.at(-1) ?? '')?.[0] ?? 0),
    rows: readRows(messages, columns),
  }
}

function readRows(messages: readonly BackendMessage[], columns: readonly ColumnReader[]): object[] {
  // With all its names at once, a row is made in one piece; otherwise it is made anew for every few of them.
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
