import type { MessagePort, Worker } from 'node:worker_threads'
import type { EngineOptions } from './create-engine.ts'

/** What a client asks of the engine, one after the other. */
export type EngineRequest =
  | { readonly kind: 'open'; readonly options: EngineOptions }
  /** Messages of PostgreSQL's protocol. */
  | { readonly kind: 'exchange'; readonly message: Uint8Array }
  | { readonly kind: 'close' }

/** The answer to the oldest request that has none. */
export type EngineAnswer =
  | { readonly kind: 'done'; readonly bytes: Uint8Array }
  /** `isLost`: the log cannot be written any more (`LogLostError`). */
  | { readonly kind: 'failed'; readonly message: string; readonly isLost: boolean }

/** One end of the connection between an engine and its client. The client of a thread has the thread itself. */
export type EnginePort = MessagePort | Worker
