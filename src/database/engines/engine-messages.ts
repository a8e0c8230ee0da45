import type { EngineOptions } from './create-engine.ts'

/** A request of a client. The engine carries requests out one after the other. */
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

/** The client's end of the connection to an engine: its thread, or something like it. */
export interface ClientPort {
  postMessage(request: EngineRequest, transfer: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (answer: EngineAnswer) => void): unknown
}

/** The engine's end. */
export interface HostPort {
  postMessage(answer: EngineAnswer, transfer: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (request: EngineRequest) => void): unknown
}
