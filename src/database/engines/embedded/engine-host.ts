import { setFlagsFromString } from 'node:v8'
import { MemoryFS, PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { DatabaseFiles } from './database-files.ts'
import type { EngineOptions } from './engine-messages.ts'
import {
  type EngineAnswer,
  type EngineRequest,
  type HostPort,
  joinBytes,
  LogLostError,
} from './engine-messages.ts'
import { CREATION } from './initial-database.ts'

/**
 * Runs the engine for the client at the other end of the port: in this thread, which waits for it and for the
 * disk.
 */
export function hostEngine(port: HostPort): void {
  let engine: Engine | undefined
  let previous: Promise<void> = Promise.resolve()

  async function serve(request: EngineRequest): Promise<Uint8Array> {
    if (request.kind === 'open') {
      engine = await createEngine(request.options)
      return new Uint8Array(0)
    }
    if (engine === undefined) throw new Error('the engine is not open')
    if (request.kind === 'exchange') return engine.exchange(request.message)
    await engine.close()
    return new Uint8Array(0)
  }

  async function answer(request: EngineRequest): Promise<void> {
    const answered: EngineAnswer = await serve(request).then(
      (bytes) => ({ kind: 'done', bytes }),
      (error: unknown) => ({
        kind: 'failed',
        message: messageOf(error instanceof LogLostError ? error.cause : error),
        isLost: error instanceof LogLostError,
      }),
    )
    port.postMessage(answered, answered.kind === 'done' ? [answered.bytes.buffer as ArrayBuffer] : [])
  }

  port.on('message', (request: EngineRequest) => {
    previous = previous.then(() => answer(request))
  })
}

/** The errors of the engine's runtime are not all instances of Error. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Turns fsync off (`postgres -F`). */
const WITHOUT_SYNC = '-F'

/**
 * Settings of the engine. `wal_sync_method`: the engine's runtime ignores the system call fdatasync.
 * `shared_buffers`: the default of 160 MB is memory of this process, and the operating system caches the
 * files as well; less than this costs a loaded service a twentieth of its CPU, because changed pages are
 * written and read again. `jit`: the engine has none. `random_page_cost`: the default is for disks that turn,
 * and prefers plans that read a page once to those that go through an index row by row; the pages of open
 * transactions are in memory. `min_wal_size`: the engine refuses less than two segments, of 16 MB each.
 */
const SETTINGS = [
  'wal_sync_method=fsync',
  'shared_buffers=24MB',
  'jit=off',
  'random_page_cost=1.1',
  'max_wal_size=48MB',
  'min_wal_size=32MB',
]

/** Starts the engine in this thread. */
async function createEngine({ folder, durability }: EngineOptions): Promise<Engine> {
  const fs = folder === undefined ? new MemoryFS('memory://') : new DatabaseFiles(folder, durability)
  const isSynced = folder !== undefined && durability === 'full'
  return start(fs, isSynced)
}

/**
 * Lets the engine create the files of a database in a folder that does not exist yet, which takes seconds.
 */
export async function createWithEngine(folder: string): Promise<void> {
  const engine = await start(new NodeFS(folder), false)
  await engine.close()
}

async function start(fs: MemoryFS | NodeFS, isSynced: boolean): Promise<Engine> {
  const defaults = PGlite.defaultStartParams.filter((one) => !isSynced || one !== WITHOUT_SYNC)
  const engine = new Engine({
    fs,
    startParams: [...defaults, ...SETTINGS.flatMap((setting) => ['-c', setting])],
    initDbStartParams: [...CREATION],
  })
  await engine.waitReady
  return engine
}

/** A message of PostgreSQL's protocol: a query without a statement. The engine parses it and does nothing. */
const EMPTY_QUERY = Uint8Array.of(0x51, 0, 0, 0, 5, 0)

/**
 * PGlite, whose parser V8 never optimises. The parser is one function of 100 kB, which V8 needs 600 MB and
 * more than a second of CPU time to optimise, for a gain of a few per cent of the engine's time.
 *
 * This is speed code: it moves the benchmark's rows "peak of a start and 1000 transactions" (770 MB without
 * it, 297 MB with it) and "start until ready, embedded, warm" (991 ms and 865 ms; medians of three runs).
 */
class Engine extends PGlite {
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

  /** Sends messages of PostgreSQL's protocol, and returns the bytes of the responses, in separate memory. */
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
 * V8 compiles a function of WebAssembly when it is called for the first time, and decides then whether it may
 * be optimised later. While the filter allows one index only, that of an import, no function may. `-1` is the
 * default of the filter.
 */
function compileWithoutOptimiser(call: () => void): void {
  // A collection for lack of memory would throw the compiled functions away, and compile them again without
  // the filter.
  setFlagsFromString('--no-flush-liftoff-code')
  setFlagsFromString('--wasm-tier-up-filter=0')
  try {
    call()
  } finally {
    setFlagsFromString('--wasm-tier-up-filter=-1')
  }
}
