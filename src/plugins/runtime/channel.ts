import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import { type AnswerMessage, createLineReader, type FromPlugin, type ToPlugin } from '../messages.ts'
import { PIPE_KEY } from './allowed.ts'
import { PluginError } from './sdk.ts'

/** The number of the call that runs now; 0 outside of one. */
export const currentRun = new AsyncLocalStorage<number>()

let pipe: Socket | undefined
let lastId = 0
const waiting = new Map<number, PromiseWithResolvers<unknown>>()

/** Opens the pipe. Answers go to those who wait for them, and everything else to `handle`. */
export function openChannel(handle: (message: Exclude<ToPlugin, AnswerMessage>) => void): void {
  pipe = Reflect.get(globalThis, PIPE_KEY) as Socket
  Reflect.deleteProperty(globalThis, PIPE_KEY)
  pipe.setEncoding('utf8')
  const read = createLineReader((line) => {
    const message = JSON.parse(line) as ToPlugin
    if (message.type === 'answer') settle(message)
    else handle(message)
  })
  pipe.on('data', (piece: string) => void read(piece))
  // Without the service there is nothing left to do.
  pipe.on('close', () => process.exit(0))
  pipe.on('error', () => process.exit(1))
}

/** Sends a message. */
export function send(message: FromPlugin): void {
  pipe?.write(`${JSON.stringify(message)}\n`)
}

/** A request without the fields that every request has. */
type Request<T> = T extends { readonly type: 'api' | 'kv' } ? Omit<T, 'id' | 'run'> : never

/** Sends a request and waits for its answer. @throws PluginError for one that the service refuses */
export async function request(message: Request<FromPlugin>): Promise<unknown> {
  lastId += 1
  const id = lastId
  const answer = Promise.withResolvers<unknown>()
  waiting.set(id, answer)
  const { type, ...fields } = message
  // The service reads the first ones even of a message that is too long to be read.
  send({ type, id, run: currentRun.getStore() ?? 0, ...fields } as FromPlugin)
  return answer.promise
}

function settle(message: AnswerMessage): void {
  const answer = waiting.get(message.id)
  waiting.delete(message.id)
  if ('value' in message) answer?.resolve(readJson(message.value))
  else answer?.reject(new PluginError(message.error.message, { code: message.error.code ?? 'SERVICE_ERROR' }))
}

/**
 * Parses JSON. An integer that a JavaScript number cannot hold becomes its decimal digits, so that none is
 * rounded.
 */
export function readJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source: string }) => {
    const isUnsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    return isUnsafe && /^-?\d+$/.test(context?.source ?? '') ? context?.source : value
  })
}

/** Writes JSON. A `bigint` becomes its decimal digits, and what JSON cannot express becomes null. */
export function writeJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  )
  return text ?? 'null'
}
