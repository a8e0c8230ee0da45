import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { builtFile } from '../../../lib/package-files.ts'
import type { ClientPort, EngineAnswer, EngineRequest } from './engine-messages.ts'

/** An engine that is not open yet, in a separate thread or in this one. */
export interface StartedEngine {
  readonly port: ClientPort
  /** Calls the listener if the thread ends unexpectedly: pending calls to the engine will get no response. */
  onEnd(listener: (reason: Error) => void): void
  /** Ends the thread. Call it when the engine is closed. */
  stop(): Promise<void>
}

/** The place where a service keeps its data. */
interface DatabaseLocation {
  readonly url?: string | undefined
  readonly dataDir: string
}

/** True for the folder's name of a database that stores nothing on disk. */
export function isInMemory(dataDir: string): boolean {
  return dataDir.startsWith('memory://')
}

/** The program is a source beside this source, or was built with this file. */
const PROGRAM =
  extname(import.meta.filename) === '.ts'
    ? join(import.meta.dirname, 'engine-thread.ts')
    : builtFile('database/engines/embedded/engine-thread.js')

/** Starts an engine in a separate thread, which loads its program while this thread continues. */
export function startEngineThread(): StartedEngine {
  const thread = new Worker(PROGRAM)
  let isStopping = false
  // The thread may end before anyone listens.
  const ended = Promise.withResolvers<Error>()
  thread.once('error', ended.resolve)
  thread.once('exit', (code) => {
    if (!isStopping) ended.resolve(new Error(`the thread of the embedded database ended with code ${code}`))
  })
  return {
    port: thread,
    onEnd: (listener) => void ended.promise.then(listener),
    stop: async () => {
      isStopping = true
      await thread.terminate()
    },
  }
}

/**
 * Starts the engine that a service with this configuration will open, while the program of the service is
 * still being loaded: each takes a few tenths of a second. Undefined if the database needs no thread.
 */
export function startEngineEarly({ url, dataDir }: DatabaseLocation): (() => StartedEngine) | undefined {
  if (url !== undefined || isInMemory(dataDir)) return undefined
  const engine = startEngineThread()
  return () => engine
}

/**
 * Starts an engine in this thread, which it blocks: for a database in memory, and for tests that watch the
 * files of this thread.
 */
export async function startEngineHere(): Promise<StartedEngine> {
  const { hostEngine } = await import('./engine-host.ts')
  const answered = Promise.withResolvers<(answer: EngineAnswer) => void>()
  const asked = Promise.withResolvers<(request: EngineRequest) => void>()
  hostEngine({
    postMessage: (answer) => void answered.promise.then((listener) => listener(answer)),
    on: (_event, listener) => asked.resolve(listener),
  })
  return {
    port: {
      postMessage: (request) => void asked.promise.then((listener) => listener(request)),
      on: (_event, listener) => answered.resolve(listener),
    },
    onEnd: () => {},
    stop: async () => {},
  }
}
