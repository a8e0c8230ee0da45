import { setFlagsFromString } from 'node:v8'
import { PGlite, type Results, type Transaction } from '@electric-sql/pglite'
import { DatabaseFiles } from './database-files.ts'
import { createFailedTransaction } from './failed-transaction.ts'
import { createStatements } from './statements.ts'

/** A message of PostgreSQL's protocol: a query without a statement. The engine parses it and does nothing. */
const EMPTY_QUERY = Uint8Array.of(0x51, 0, 0, 0, 5, 0)

/**
 * PGlite, whose parser V8 never optimises. The parser is one function of 100 kB, which V8 needs 600 MB and more than a second of CPU time
 * to optimise, for a gain of a few per cent of the engine's time.
 */
export class Engine extends PGlite {
  /** PGlite calls this method when the database has started and before it parses its first query. */
  override async _initArrayTypes(options?: { force?: boolean }): Promise<void> {
    if (!this.#hasParsed) compileWithoutOptimiser(() => this.execProtocolRawSync(EMPTY_QUERY))
    this.#hasParsed = true
    return super._initArrayTypes(options)
  }

  /** @throws LogLostError once the log cannot be written: the call would not return */
  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    if (this.fs instanceof DatabaseFiles && this.fs.lost !== undefined) throw this.fs.lost
    return super.execProtocolRawSync(message)
  }

  /** The statement is parsed once. Options of PGlite are for none of the service's statements. */
  override async query<T>(text: string, parameters: unknown[] = []): Promise<Results<T>> {
    await this._checkReady()
    return this._runExclusiveTransaction(() => this.#run<T>(text, parameters))
  }

  /**
   * Calls `callback` also when the transaction cannot begin. Kysely waits for that call, and until then nobody sees the failure: its caller
   * would wait for ever, and Node.js would end the process before the other requests have their answers.
   */
  override async transaction<T>(callback: (tx: Transaction) => Promise<T>): Promise<T> {
    let hasBegun = false
    try {
      return await super.transaction((tx) => {
        hasBegun = true
        return callback(Object.assign(tx, { query: this.#run.bind(this) }))
      })
    } catch (error) {
      if (!hasBegun) await callback(createFailedTransaction(error))
      throw error
    }
  }

  #hasParsed = false

  #statements = createStatements({
    parsers: this.parsers,
    serializers: this.serializers,
    send: (message) => this.execProtocolStream(message, { syncToFs: false }),
  })

  #run<T>(text: string, parameters: readonly unknown[] = []): Promise<Results<T>> {
    return this._runExclusiveQuery(() => this.#statements(text, parameters)) as Promise<Results<T>>
  }
}

/**
 * V8 compiles a function of WebAssembly when it is called for the first time, and decides then whether it may be optimised later. While
 * the filter allows one index only, that of an import, no function may. `-1` is the default of the filter.
 */
function compileWithoutOptimiser(call: () => void): void {
  setFlagsFromString('--wasm-tier-up-filter=0')
  try {
    call()
  } finally {
    setFlagsFromString('--wasm-tier-up-filter=-1')
  }
}
