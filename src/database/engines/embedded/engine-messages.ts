import type { Durability } from '../../durability.ts'

/** A request of a client. The engine carries requests out one after the other. */
export type EngineRequest =
  | { readonly kind: 'open'; readonly options: EngineOptions }
  /** Messages of PostgreSQL's protocol. */
  | { readonly kind: 'exchange'; readonly message: Uint8Array }
  | { readonly kind: 'close' }

/** The answer to the oldest request that has none. */
export type EngineAnswer =
  | { readonly kind: 'done'; readonly bytes: Uint8Array }
  /** `isLost`: the log can no longer be written (`LogLostError`). */
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

/**
 * Joins parts in separate memory, which can be transferred to another thread. Buffer.concat would return a
 * slice of shared memory.
 */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const part of parts) {
    whole.set(part, end)
    end += part.length
  }
  return whole
}

/**
 * The engine can no longer write its log, because the disk is full, read-only or broken. Only a new process
 * can open the database.
 */
export class LogLostError extends Error {
  override readonly name = 'LogLostError'

  constructor(cause: unknown) {
    super('The embedded database cannot write its log. The service must be restarted.', { cause })
  }
}

/** Selects what the engine opens. */
export interface EngineOptions {
  /** The folder of the database; absent for one that stores nothing on disk. */
  readonly folder?: string | undefined
  readonly durability: Durability
}
