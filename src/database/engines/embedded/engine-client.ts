import { type BackendMessage, DatabaseError, NotificationResponseMessage } from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'
import type { EngineOptions } from './engine-messages.ts'

import { type EngineAnswer, type EngineRequest, LogLostError } from './engine-messages.ts'
import { createStatements, type StatementResult } from './prepared-statements.ts'
import type { StartedEngine } from './start-engine.ts'

/**
 * An embedded database that is open. Its callers take turns: it has one session, as one connection to a
 * server has.
 */
export interface EngineClient {
  /**
   * @throws DatabaseError with the SQLSTATE in `code`; LogLostError if the database can no longer be written
   */
  query(text: string, parameters: readonly unknown[]): Promise<StatementResult>
  /**
   * Calls the listener with the payload of each notification on the channel, before the commit that sends it
   * has returned.
   */
  onNotification(channel: string, listener: (payload: string) => void): () => void
  close(): Promise<void>
}

/**
 * Opens a database with an engine. If its thread ends unexpectedly, or it can no longer write its log, every
 * call fails and the process ends like on an uncaught error, so that its supervisor restarts it.
 */
export async function openEngine(engine: StartedEngine, options: EngineOptions): Promise<EngineClient> {
  const { ask, end } = createRequests(engine)
  await ask({ kind: 'open', options })
  const listeners = new Map<string, Set<(payload: string) => void>>()

  async function send(message: Uint8Array): Promise<BackendMessage[]> {
    const answers = readMessages(await ask({ kind: 'exchange', message }))
    for (const answer of answers)
      if (answer instanceof NotificationResponseMessage)
        // An error of a listener is no error of the statement, which has happened.
        for (const listener of listeners.get(answer.channel) ?? [])
          queueMicrotask(() => listener(answer.payload))
    const error = answers.find((answer) => answer instanceof DatabaseError)
    if (error !== undefined) throw error
    return answers
  }

  return {
    query: createStatements(send),
    onNotification: (channel, listener) => {
      const those = listeners.get(channel) ?? new Set()
      listeners.set(channel, those.add(listener))
      return () => void those.delete(listener)
    },
    close: async () => {
      try {
        await ask({ kind: 'close' })
      } finally {
        end(new Error('The embedded database is closed.'))
        await engine.stop()
      }
    },
  }
}

/** Time in ms in which requests of clients are told that they failed. */
const ANSWERING_MS = 50

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void
  readonly reject: (error: Error) => void
}

interface Requests {
  /** Sends a request; the engine answers in the order of the requests. */
  ask(request: EngineRequest): Promise<Uint8Array>
  /** Fails the requests without an answer, and all later ones. */
  end(reason: Error): void
}

function createRequests({ port, onEnd }: StartedEngine): Requests {
  const waiting: Waiting[] = []
  let ended: Error | undefined

  port.on('message', (answer: EngineAnswer) => {
    const oldest = waiting.shift()
    if (answer.kind === 'done') oldest?.resolve(answer.bytes)
    else if (answer.isLost) {
      const lost = new LogLostError(answer.message)
      oldest?.reject(lost)
      fail(lost)
    } else oldest?.reject(new Error(answer.message))
  })
  function end(reason: Error): void {
    ended ??= reason
    for (const { reject } of waiting.splice(0)) reject(reason)
  }

  /** Requests that fail now get their answers before the process ends. */
  function fail(reason: Error): void {
    if (ended !== undefined) return
    end(reason)
    setTimeout(() => {
      throw reason
    }, ANSWERING_MS)
  }

  onEnd(fail)
  return {
    end,
    ask: (request) => {
      if (ended !== undefined) return Promise.reject(ended)
      const { promise, ...settle } = Promise.withResolvers<Uint8Array>()
      waiting.push(settle)
      port.postMessage(request, request.kind === 'exchange' ? [request.message.buffer as ArrayBuffer] : [])
      return promise
    },
  }
}

/** Reads messages of PostgreSQL's protocol. */
function readMessages(bytes: Uint8Array): BackendMessage[] {
  const read: BackendMessage[] = []
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  new Parser().parse(buffer, (message) => void read.push(message))
  return read
}
