import { setFlagsFromString } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { DatabaseFiles } from './database-files.ts'
import { joinBytes } from './join-bytes.ts'

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

  /** Sends messages of PostgreSQL's protocol, and returns the bytes of the answers, in memory of their own. */
  async exchange(message: Uint8Array): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    // The engine writes each part into the same memory.
    const onRawData = (part: Uint8Array) => void parts.push(part.slice())
    await this.execProtocolRawStream(message, { syncToFs: false, onRawData })
    return joinBytes(parts)
  }

  #hasParsed = false
}

/**
 * V8 compiles a function of WebAssembly when it is called for the first time, and decides then whether it may be optimised later. While
 * the filter allows one index only, that of an import, no function may. `-1` is the default of the filter.
 */
function compileWithoutOptimiser(call: () => void): void {
  // A collection for lack of memory would throw the compiled functions away, and compile them again without the filter.
  setFlagsFromString('--no-flush-liftoff-code')
  setFlagsFromString('--wasm-tier-up-filter=0')
  try {
    call()
  } finally {
    setFlagsFromString('--wasm-tier-up-filter=-1')
  }
}
